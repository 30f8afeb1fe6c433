import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyEvent, emptyTables } from '../src/rows.js';

// Fear: rows of before a reconnect stay on the page for ever.
test('`all` forgets what is not sent again, and tells that it is gone', () => {
  const tables = emptyTables();
  applyEvent(tables, { all: true, rows: [{ k: 'node/a' }, { k: 'gang/x/train' }] });
  const changed = applyEvent(tables, { all: true, rows: [{ k: 'node/b' }] });
  assert.deepEqual([...tables.node.keys()], ['b']);
  assert.equal(tables.gang.size, 0);
  assert.deepEqual([...changed.get('node')].sort(), ['a', 'b']);
  assert.deepEqual([...changed.get('gang')], ['x/train']);
});

// Fear: an event that says "nothing has changed" makes everything draw again.
test('an event without rows changes nothing', () => {
  assert.equal(applyEvent(emptyTables(), { at: 5 }).size, 0);
});

// Fear: a newer server, or a hostile name, breaks an older page.
test('a kind that is not known is left out', () => {
  const tables = emptyTables();
  applyEvent(tables, { rows: [{ k: 'constructor/x' }, { k: '__proto__/x' }, { k: 'window/y' }], gone: ['toString/z'] });
  assert.equal(
    Object.values(tables).every((table) => table.size === 0),
    true,
  );
});
