// What a node's GPUs are used for, cell by cell, and the sums of it. Knows no DOM.
import { sevenths } from './format.js';
import { compare } from './tree.js';

// Why no pod that asks for GPUs starts on it now: "cordoned", "not ready", "no room for another pod"; '' = one may.
// A scheduler of an older version, which may lead during an upgrade, tells only who is cordoned.
export function closedText(node) {
  return node.closed ?? (node.cordoned ? 'cordoned' : '');
}

export function isClosed(node) {
  return closedText(node) !== '';
}

export function stateOf(use) {
  if (use === null) return 'free';
  return use.held ? 'held' : use.leaving ? 'leaving' : 'used';
}

// Runs of equal cells from left to right: {resource, use, n, x, width}, where `width` is that of one cell in GPUs.
// Whole GPUs come first, then slices, the widest first. The rows do not say which GPU of a node a pod has, so the
// uses are sorted by gang: a cell keeps its place while its gang runs.
export function runsOf(node) {
  const gpus = (node.gpus ?? []).filter((gpu) => gpu.all > 0);
  const widthOf = (gpu) => (sevenths(gpu.name) || 7) / 7;
  gpus.sort((a, b) => widthOf(b) - widthOf(a) || compare(a.name, b.name));
  const runs = [];
  let x = 0;
  for (const gpu of gpus) {
    const width = widthOf(gpu);
    const add = (use, n) => {
      if (n <= 0) return;
      runs.push({ resource: gpu.name, use, n, x, width });
      x += n * width;
    };
    const uses = (gpu.uses ?? []).slice();
    uses.sort((a, b) => rank(a) - rank(b) || compare(a.gang ?? '', b.gang ?? ''));
    let used = 0;
    for (const use of uses) {
      add(use, use.n);
      used += use.n;
    }
    add(null, gpu.all - used);
  }
  return runs;
}

function rank(use) {
  return use.held ? 2 : use.leaving ? 1 : 0;
}

// How many GPUs wide the node is drawn.
export function widthOf(node) {
  const runs = runsOf(node);
  const last = runs[runs.length - 1];
  return last === undefined ? 0 : last.x + last.n * last.width;
}

// Sums over nodes, whole GPUs and slices apart: {gpus: {all, used, held, closed}, slices: {…}}. `closed` is by the
// word of closedText.
export function totalsOf(nodes) {
  const none = () => ({ all: 0, used: 0, held: 0, closed: {} });
  const totals = { gpus: none(), slices: none() };
  for (const node of nodes) {
    const closed = closedText(node);
    for (const gpu of node.gpus ?? []) {
      const sum = sevenths(gpu.name) > 0 ? totals.slices : totals.gpus;
      sum.all += gpu.all ?? 0;
      if (closed) sum.closed[closed] = (sum.closed[closed] ?? 0) + (gpu.all ?? 0);
      for (const use of gpu.uses ?? []) {
        if (use.held) sum.held += use.n;
        else sum.used += use.n;
      }
    }
  }
  return totals;
}
