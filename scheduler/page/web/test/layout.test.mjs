import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutMap, nodeBox, nodeIndexAt, rackAt } from '../src/layout.js';

const gpus = [{ name: 'nvidia.com/gpu', all: 8 }];
const nodes = (count) =>
  Array.from({ length: count }, (_, index) => ({
    name: `gpu-${index}`,
    path: [`b${Math.floor(index / 40)}`, `r${Math.floor(index / 16)}`],
    gpus,
  }));

// Fear: two nodes cover each other, or a click opens the neighbour's gang.
test('every node has a place of its own, and is found there', () => {
  const map = layoutMap(nodes(150), 640, 500);
  for (const [name, place] of map.places) {
    const box = nodeBox(place);
    assert.ok(box.x + box.w <= map.width && box.y + box.h <= map.height, name);
    const rack = rackAt(map, box.x + box.w / 2, box.y + 0.5);
    assert.equal(rack.nodes[nodeIndexAt(rack, box.x + box.w / 2, box.y + 0.5)], name);
  }
});

// Fear: the page of a large cluster stands still while it looks for the best map. (It took minutes once.)
test('hundreds of blocks are laid out', () => {
  const rows = Array.from({ length: 5000 }, (_, index) => ({
    name: `gpu-${index}`,
    path: [`b${Math.floor(index / 8)}`, `r${Math.floor(index / 4)}`],
    gpus,
  }));
  const map = layoutMap(rows, 1200, 700);
  assert.equal(map.places.size, 5000);
  assert.equal(map.blocks.length, 625);
});

// Fear: the switch to NVLink domains leaves a node where its rack was.
test('nodes stand where they are said to stand', () => {
  const rows = [0, 1, 2, 3].map((index) => ({ name: `n${index}`, path: ['r'], nvlink: `d${index % 2}`, gpus }));
  const map = layoutMap(rows, 640, 500, (row) => [row.nvlink]);
  assert.deepEqual(
    map.racks.map((rack) => [rack.title, rack.nodes]),
    [
      ['d0', ['n0', 'n2']],
      ['d1', ['n1', 'n3']],
    ],
  );
});

// Fear: a cluster without a Topology, or without nodes, breaks the page.
test('nodes without labels, and no nodes, are laid out', () => {
  const bare = layoutMap(
    [
      { name: 'a', gpus },
      { name: 'b', path: ['', ''] },
    ],
    640,
    500,
  );
  assert.equal(bare.places.size, 2);
  assert.ok(Number.isFinite(layoutMap([], 640, 500).scale));
});
