import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, asksText, clockTime, commonPrefix, duration, membersText, plural, sevenths } from '../src/format.js';
import { placeEvents, summary } from '../src/lanes.js';
import { nodeText, searchRows } from '../src/search.js';

test('durations have two units at most', () => {
  const written = [0, 59, 60, 3599, 3600, 4000, 36_000, 90_000, 2e6].map(duration);
  assert.deepEqual(written, ['0 s', '59 s', '1 min', '59 min', '1 h', '1 h 6 min', '10 h', '1 d 1 h', '23 d']);
});

// Fear: what happened three days ago reads as though it were of today.
test('a time of another day has its day', () => {
  const at = new Date(2026, 10, 27, 14, 5).getTime() / 1000;
  assert.equal(clockTime(at, at + 60), '14:05');
  assert.equal(clockTime(at, at + 86_400), '27 Nov 14:05');
});

// Fear: seven slices of a seventh each are "1 GPUs".
test('what is written as one is told as one', () => {
  const told = [0, 1, 2, 0.1 + 0.2 + 0.7 - 1e-9, 0.5].map((count) => plural(count, 'GPU'));
  assert.deepEqual(told, ['0 GPUs', '1 GPU', '2 GPUs', '1 GPU', '0.5 GPUs']);
});

test('a slice is told from a whole GPU', () => {
  assert.deepEqual(['nvidia.com/gpu', 'nvidia.com/mig-3g.40gb', 'nvidia.com/mig-1c.2g.20gb'].map(sevenths), [0, 3, 2]);
});

test('amounts have the unit of their resource', () => {
  assert.equal(amount('memory', 3 * 2 ** 40), '3 TiB');
  assert.equal(amount('nvidia.com/gpu', 1234), '1,234');
});

test('what a gang asks for is short', () => {
  const gpu = 'nvidia.com/gpu';
  assert.equal(
    asksText({
      asks: [
        { members: 1, name: gpu, amount: 8 },
        { members: 4, name: gpu, amount: 1 },
      ],
    }),
    '1 × 8 + 4 × 1',
  );
  assert.equal(asksText({ members: { total: 3 } }), '3 pods');
});

// Fear: the numbers themselves are cut, and gpu-10 and gpu-11 read 0 and 1.
test('a common prefix ends at a separator', () => {
  assert.equal(commonPrefix(['gpu-10', 'gpu-11']), 'gpu-');
  assert.equal(commonPrefix(['same', 'same']), '');
});

// Fear: labels cover each other, or an event is lost.
test('labels on the time line do not overlap, and every event is somewhere', () => {
  const events = Array.from({ length: 60 }, (_, index) => ({ at: (index * 37) % 100, text: 'x' }));
  const marks = placeEvents(events, { from: 0, to: 100, width: 1000, lanes: 2, widthOf: () => 130 });
  assert.equal(
    marks.reduce((sum, mark) => sum + 1 + mark.more.length, 0),
    60,
  );
  const ends = [0, 0];
  for (const { x, right, lane } of marks) {
    const left = right === null ? x : 1000 - right - 130;
    assert.ok(left >= ends[lane]);
    ends[lane] = left + 130;
  }
});

test('names that begin with the text come first', () => {
  const tables = {
    queue: new Map([['my-train', {}]]),
    gang: new Map([['a/train', { name: 'train', ns: 'a' }]]),
    node: new Map(),
  };
  assert.deepEqual(
    searchRows('TRAIN', tables).map((hit) => hit.kind),
    ['gang', 'queue'],
  );
});

// Fear: "undefined" and "other" find every node or none.
test('a node is found by what its row in the table says', () => {
  const uses = [{ n: 1, gang: 'a/Train' }, { n: 2 }];
  const text = nodeText({ name: 'n1', path: ['', 'r1'], cordoned: true, gpus: [{ name: 'nvidia.com/gpu', uses }] });
  for (const word of ['n1', 'r1', 'cordoned', 'a/train', 'other']) assert.ok(text.includes(word), word);
  assert.ok(!text.includes('undefined'), text);
});

// Fear: whoever runs is counted as bound once more.
test('each member is told once', () => {
  const members = { total: 5, bound: 4, running: 3, pending: 1 };
  assert.equal(membersText({ members, min: 4 }), '5: 3 running, 1 bound, 1 pending; quorum 4');
  assert.equal(membersText({ members: { total: 2, bound: 2, running: 2 }, min: 2 }), '2: 2 running; quorum 2');
});

test('an estimate is not called known', () => {
  const ends = [{ estimated: true }, { estimated: false }, { estimated: true }];
  assert.equal(summary([], ends, 0), '1 known to end · 2 estimated to end');
});
