import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedText, runsOf, totalsOf, widthOf } from '../src/cells.js';

const gpu = 'nvidia.com/gpu';
const slice = 'nvidia.com/mig-3g.40gb';

// Fear: cells jump about whenever the server writes the uses in another order.
test('the order of the uses does not matter', () => {
  const uses = [
    { n: 2, gang: 'a/x' },
    { n: 1, gang: 'a/y', held: true },
    { n: 3, gang: 'a/b' },
  ];
  const node = (list) => ({ name: 'n', gpus: [{ name: gpu, all: 8, free: 2, uses: list }] });
  assert.deepEqual(runsOf(node(uses)), runsOf(node([...uses].reverse())));
  assert.deepEqual(
    runsOf(node(uses)).map(({ n, x }) => [n, x]),
    [
      [3, 0],
      [2, 3],
      [1, 5],
      [2, 6],
    ],
  );
});

test('a slice is as wide as its part of a GPU', () => {
  const node = {
    name: 'n',
    gpus: [
      { name: slice, all: 7 },
      { name: gpu, all: 2 },
    ],
  };
  assert.equal(widthOf(node).toFixed(6), (2 + 3).toFixed(6));
  assert.equal(runsOf(node)[0].resource, gpu);
});

// Fear: held room is counted as used, or slices as GPUs.
test('sums keep used, held and slices apart', () => {
  const { gpus, slices } = totalsOf([
    { name: 'a', cordoned: true, gpus: [{ name: gpu, all: 8, uses: [{ n: 3 }, { n: 2, held: true }] }] },
    { name: 'b', gpus: [{ name: slice, all: 4, uses: [{ n: 1, leaving: true }] }] },
  ]);
  assert.deepEqual(gpus, { all: 8, used: 3, held: 2, closed: { cordoned: 8 } });
  assert.deepEqual(slices, { all: 4, used: 1, held: 0, closed: {} });
});

// Fear: somebody looks for who cordoned a node whose kubelet has died, or for GPUs on a node that takes no more pods.
test('closed nodes are counted by what closes them', () => {
  const gpus = [{ name: gpu, all: 8 }];
  const nodes = [
    { cordoned: true, closed: 'cordoned', gpus },
    { closed: 'not ready', taints: ['node.kubernetes.io/not-ready:NoSchedule'], gpus },
    { closed: 'no room for another pod', gpus },
    { taints: ['team:NoSchedule'], gpus },
    { cordoned: true, gpus },
  ];
  assert.deepEqual(nodes.map(closedText), ['cordoned', 'not ready', 'no room for another pod', '', 'cordoned']);
  assert.deepEqual(totalsOf(nodes).gpus.closed, { cordoned: 16, 'not ready': 8, 'no room for another pod': 8 });
});
