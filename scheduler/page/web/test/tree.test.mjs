import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTree, lendersOf } from '../src/tree.js';

const rows = (list) => new Map(list.map((row) => [row.name, row]));
const drawn = (queues, cohorts) =>
  buildTree(rows(queues), rows(cohorts)).map(({ depth, kind, name }) => `${'-'.repeat(depth)}${kind[0]}:${name}`);

test('children stand below their parent, numbers in their names by value', () => {
  assert.deepEqual(
    drawn(
      [{ name: 'q10', cohort: 'b' }, { name: 'q9', cohort: 'b' }, { name: 'alone' }],
      [{ name: 'b', parent: 'a' }, { name: 'a' }],
    ),
    ['q:alone', 'c:a', '-c:b', '--q:q9', '--q:q10'],
  );
});

// Fear: a Queue that names a cohort without a row is not shown at all.
test('a parent without a row is made up', () => {
  assert.deepEqual(drawn([{ name: 'q', cohort: 'c' }], [{ name: 'd', parent: 'e' }]), ['c:c', '-q:q', 'c:e', '-c:d']);
});

// Fear: cohorts in a circle, which nothing forbids, hang the page or vanish.
test('a circle of cohorts is cut once', () => {
  assert.deepEqual(
    drawn(
      [{ name: 'q', cohort: 'b' }],
      [
        { name: 'a', parent: 'b' },
        { name: 'b', parent: 'a' },
        { name: 'c', parent: 'a' },
      ],
    ),
    ['c:a', '-c:b', '--q:q', '-c:c'],
  );
});

// Fear: who borrows is told of somebody who lends something else, or elsewhere.
test('lenders are those of the same cohort that lend the same', () => {
  const usage = (lent, more) => [{ name: 'gpu', lent, ...more }];
  const queues = rows([
    { name: 'borrower', cohort: 'c', usage: usage(0) },
    { name: 'lender', cohort: 'c', usage: usage(8) },
    { name: 'idle', cohort: 'c', usage: usage(0) },
    { name: 'other-flavor', cohort: 'c', usage: usage(8, { flavor: 'a100' }) },
    { name: 'elsewhere', cohort: 'd', usage: usage(8) },
  ]);
  const entries = buildTree(queues, new Map());
  const borrower = queues.get('borrower');
  assert.deepEqual(lendersOf(entries, borrower, borrower.usage[0]), ['lender']);
});
