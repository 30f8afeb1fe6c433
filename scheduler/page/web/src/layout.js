// Where every block, rack and node lies on the map. Knows no DOM. The unit is one GPU cell.
//
// A rack is a column of nodes under a title, each node a strip of cells right of its name. Racks flow inside their
// block, blocks flow on the map. Of several widths the one is taken at which the whole is largest on the screen.
import { widthOf } from './cells.js';
import { commonPrefix } from './format.js';
import { compare } from './tree.js';

export const pitch = 1.3; // from one node to the next below it
export const cellsFrom = 3.2; // pixels per cell from which cells are drawn; below, racks are bars
const gap = 0.9;
const pad = 0.6;
const widest = 24; // cells; a node of more is drawn with narrower ones

// `nodes` are the rows, `width` and `height` the pixels that there are; `pathOf` says of a row where it stands: the
// names of its blocks, then of its rack.
export function layoutMap(nodes, width, height, pathOf = (node) => node.path ?? []) {
  const blocks = groupNodes(nodes, pathOf);
  const named = blocks.length > 1 || blocks[0]?.title !== '';
  const titles = { block: named ? 2 : 0, rack: 1.8 };
  // A title needs pixels rather than cells; how many a cell has is known only after a first try.
  const first = best(blocks, titles, width, height);
  if (named) titles.block = Math.max(titles.block, 20 / first.scale);
  if (first.scale >= cellsFrom) titles.rack = Math.max(titles.rack, 13 / first.scale);
  const { map, scale } = best(blocks, titles, width, height);
  const places = new Map();
  for (const rack of map.racks) {
    rack.nodes.forEach((name, index) => places.set(name, { rack, index }));
  }
  return { ...map, scale, places };
}

// The rectangle of the node's cells.
export function nodeBox(place) {
  const { rack, index } = place;
  const column = Math.floor(index / rack.rows);
  return {
    x: rack.x + pad + column * rack.columnWidth + rack.gutter,
    y: rack.y + rack.top + (index % rack.rows) * pitch,
    w: rack.cells,
    h: 1,
  };
}

export function rackAt(map, x, y) {
  return map.racks.find((rack) => contains(rack, x, y)) ?? null;
}

// The index of the node whose row, name included, has the point; -1 between nodes.
export function nodeIndexAt(rack, x, y) {
  const column = Math.floor((x - rack.x - pad) / rack.columnWidth);
  const row = Math.floor((y - rack.y - rack.top) / pitch);
  const index = column * rack.rows + row;
  const inside = column >= 0 && row >= 0 && row < rack.rows && index < rack.nodes.length;
  return inside ? index : -1;
}

function contains(box, x, y) {
  return x >= box.x && y >= box.y && x < box.x + box.w && y < box.y + box.h;
}

// Of `boxes` the index of the nearest one in the direction (dx, dy) from `from`; -1 = there is none.
export function nearest(boxes, from, dx, dy) {
  let found = -1;
  let least = Infinity;
  boxes.forEach((box, index) => {
    const x = box.x + box.w / 2 - from.x - from.w / 2;
    const y = box.y + box.h / 2 - from.y - from.h / 2;
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (ahead <= 0.01 || aside > 2 * ahead) return;
    const distance = ahead + 3 * aside;
    if (distance < least) [least, found] = [distance, index];
  });
  return found;
}

// Blocks with racks with names of nodes, all in order of their names.
function groupNodes(nodes, pathOf) {
  const prefix = sharedPart(nodes.map((node) => node.name));
  const rackPrefix = sharedPart(nodes.map((node) => pathOf(node).at(-1)).filter(Boolean));
  const blocks = new Map();
  for (const node of nodes) {
    const path = pathOf(node);
    const block = into(blocks, JSON.stringify(path.slice(0, -1)), () => ({
      title: path
        .slice(0, -1)
        .map((value) => value || '(none)')
        .join(' / '),
      short: path[path.length - 2] ?? '', // for where the title does not fit
      racks: new Map(),
    }));
    const rack = into(block.racks, path[path.length - 1] ?? '', () => ({
      title: path.length === 0 ? 'all nodes' : path[path.length - 1] || '(no label)',
      short: (path[path.length - 1] ?? '').slice(rackPrefix.length), // for where the title does not fit
      block: block.title,
      prefix: prefix.length,
      cells: 1,
      nodes: [],
    }));
    rack.nodes.push(node.name);
    rack.cells = Math.max(rack.cells, Math.min(widest, widthOf(node)));
  }
  const sorted = (map) => [...map.values()].sort((a, b) => compare(a.title, b.title));
  return sorted(blocks).map((block) => ({
    title: block.title,
    short: block.short,
    racks: sorted(block.racks).map((rack) => sized(rack)),
  }));
}

function into(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

// What need not be written before every name. Short names are kept whole.
function sharedPart(names) {
  return names.every((name) => name.length <= 7) ? '' : commonPrefix(names);
}

function sized(rack) {
  rack.nodes.sort(compare);
  const longest = Math.max(...rack.nodes.map((name) => name.length - rack.prefix));
  rack.gutter = Math.min(5, Math.max(1.6, 0.5 * longest + 0.5));
  rack.columnWidth = rack.gutter + rack.cells + pad;
  let columns = 1;
  while (tall(rack, columns) > 2 * columns * rack.columnWidth) columns += 1;
  rack.rows = Math.ceil(rack.nodes.length / columns);
  rack.w = columns * rack.columnWidth + pad;
  return rack;
}

function tall(rack, columns) {
  return Math.ceil(rack.nodes.length / columns) * pitch;
}

function best(blocks, titles, width, height) {
  const racks = blocks.flatMap((block) => block.racks);
  for (const rack of racks) {
    rack.top = titles.rack;
    rack.h = titles.rack + rack.rows * pitch + 0.3;
  }
  const narrow = Math.max(1, ...racks.map((rack) => rack.w)) + gap;
  const wide = racks.reduce((sum, rack) => sum + rack.w + gap, 2 * gap);
  const steps = 32;
  let found = null;
  for (let step = 0; step <= steps; step += 1) {
    const wrap = narrow * (wide / narrow) ** (step / steps) + 0.01;
    for (let beside = 1; beside === 1 || (beside <= blocks.length && wrap / beside >= narrow); ) {
      const inside = wrap / beside - gap;
      const boxes = blocks.map((block) => boxOf(block, titles, inside));
      const whole = flow(boxes, wrap);
      const scale = Math.min(width / whole.width, height / whole.height);
      const worth = scale * (hasRoomForTitles(boxes, scale) ? 1 : 0.5);
      if (found === null || worth > found.worth) found = { wrap, inside, scale, worth };
      // One more of hundreds changes nothing that is seen.
      beside = Math.max(beside + 1, Math.floor(beside * 1.2));
    }
  }
  return { map: arrange(blocks, titles, found.wrap, found.inside), scale: found.scale };
}

// A map of narrow towers whose names nobody can read is worth less than a smaller one.
function hasRoomForTitles(boxes, scale) {
  return boxes.length === 1 || boxes.every((box) => box.w * scale >= 64);
}

// Blocks wrap at `wrap`, the racks in a block at `inside`.
function arrange(blocks, titles, wrap, inside) {
  const placed = { blocks: [], racks: [] };
  const boxes = blocks.map((block) => boxOf(block, titles, inside));
  const whole = flow(boxes, wrap, ({ block, w }, left, top) => {
    placed.blocks.push({ title: block.title, short: block.short, x: left, y: top, w, h: titles.block });
    flow(block.racks, inside, (rack, x, y) => {
      placed.racks.push({ ...rack, x: left + x, y: top + titles.block + y });
    });
  });
  return { ...placed, ...whole };
}

function boxOf(block, titles, inside) {
  const inner = flow(block.racks, inside);
  return { block, w: inner.width, h: titles.block + inner.height };
}

// Boxes side by side, from row to row; the size of all. `place` hears where each one lies.
function flow(boxes, wrap, place = () => {}) {
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const box of boxes) {
    if (x > 0 && x + box.w > wrap) [x, y, rowHeight] = [0, y + rowHeight + gap, 0];
    place(box, x, y);
    x += box.w + gap;
    rowHeight = Math.max(rowHeight, box.h);
    width = Math.max(width, x - gap);
  }
  return { width: Math.max(width, 1), height: Math.max(y + rowHeight, 1) };
}
