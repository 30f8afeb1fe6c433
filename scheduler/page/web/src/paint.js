// Draws the part of the map that is on the screen. No state but caches; called at most once per frame.
//
// Rectangles are collected by style and drawn style by style: changing the style is what costs on a canvas.
import { isClosed, runsOf, stateOf } from './cells.js';
import { cellsFrom, nodeBox } from './layout.js';
import { lookOf } from './looks.js';
import { squeezeOf } from './spots.js';

const lettersFrom = 12; // pixels per cell
const gapsFrom = 6;
const namesFrom = 8.5;
const font = 'system-ui, sans-serif';
const mono = 'ui-monospace, monospace';

// Runs and sums are kept by row: a changed node has a new row.
const runs = new WeakMap();
function cachedRuns(row) {
  if (!runs.has(row)) runs.set(row, runsOf(row));
  return runs.get(row);
}

// `scene`: map, rowOf(name), camera, size {width, height}, theme, colours, marks, isLit(use) or null, cursor.
export function paint(context, scene) {
  const { map, camera, size, colours } = scene;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, size.width, size.height);
  const screen = (box) => ({
    x: (box.x - camera.x) * camera.scale,
    y: (box.y - camera.y) * camera.scale,
    w: box.w * camera.scale,
    h: box.h * camera.scale,
  });
  const seen = (box) => box.x < size.width && box.y < size.height && box.x + box.w > 0 && box.y + box.h > 0;
  const racks = map.racks.map((rack) => [rack, screen(rack)]).filter(([, box]) => seen(box));
  paintTitles(context, map.blocks, screen, colours);
  if (camera.scale >= cellsFrom) paintCells(context, scene, racks, screen, seen);
  else paintBars(context, scene, racks);
  if (scene.cursor !== null) paintCursor(context, screen(scene.cursor), colours);
}

function paintTitles(context, blocks, screen, colours) {
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.font = `600 11px ${font}`;
  context.fillStyle = colours.text;
  for (const block of blocks) {
    if (block.h === 0) continue;
    const box = screen(block);
    const text = context.measureText(block.title).width <= box.w ? block.title : clipped(context, block.short, box.w);
    context.fillText(text, box.x, box.y + box.h - Math.min(8, box.h / 2));
  }
}

// Racks as boxes that fill from the bottom.
function paintBars(context, scene, racks) {
  const { colours, rowOf } = scene;
  for (const [rack, box] of racks) {
    context.fillStyle = colours.free;
    context.fillRect(box.x, box.y, box.w, box.h);
    const sums = (rack.sums ??= sumsOf(rack, scene));
    let y = box.y + box.h;
    for (const part of sums.parts) {
      const height = (part.amount / sums.all) * box.h;
      y -= height;
      const look = lookOf(context, scene, part.use, part.closed);
      context.globalAlpha = look.alpha;
      context.fillStyle = look.fill;
      context.fillRect(box.x, y, box.w, height);
    }
    context.globalAlpha = 1;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.strokeRect(Math.round(box.x) + 0.5, Math.round(box.y) + 0.5, Math.round(box.w) - 1, Math.round(box.h) - 1);
    paintBarTitle(context, rack, box, colours);
  }
}

function paintBarTitle(context, rack, box, colours) {
  if (box.w < 22 || box.h < 14) return;
  context.font = `10px ${font}`;
  const fits = (name) => context.measureText(name).width <= box.w - 6;
  const text = fits(rack.title) ? rack.title : rack.short;
  if (!fits(text)) return;
  context.fillStyle = colours.ground;
  context.fillRect(box.x + 1, box.y + 1, context.measureText(text).width + 5, 12);
  context.fillStyle = colours.text;
  context.fillText(text, box.x + 3, box.y + 7.5);
}

// What a rack's GPUs are used for, Queue by Queue: {all, parts: [{use, closed, amount}]}, from the bottom up. What is
// lit is apart from what is not.
function sumsOf(rack, { rowOf, marks, isLit }) {
  const parts = new Map();
  let all = 0;
  for (const name of rack.nodes) {
    const row = rowOf(name);
    if (row === undefined) continue;
    for (const { use, n, width } of cachedRuns(row)) {
      const closed = use === null && isClosed(row);
      all += n * width;
      if (use === null && !closed) continue;
      const hue = marks.get(use?.queue)?.hue ?? 98;
      const order = use === null ? 99 : { used: 0, leaving: 100, held: 200 }[stateOf(use)] + hue;
      const key = `${order}/${use?.queue}/${use !== null && isLit?.(use)}`;
      if (!parts.has(key)) parts.set(key, { order, use, closed, amount: 0 });
      parts.get(key).amount += n * width;
    }
  }
  return { all: all || 1, parts: [...parts.values()].sort((a, b) => a.order - b.order) };
}

function paintCells(context, scene, racks, screen, seen) {
  const { camera, colours, rowOf, size } = scene;
  const scale = camera.scale;
  const batches = new Map();
  const letters = new Map();
  const names = [];
  for (const [rack, box] of racks) {
    context.fillStyle = colours.panel;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(
      Math.round(box.x) + 0.5,
      Math.round(box.y) + 0.5,
      Math.round(box.w),
      Math.round(box.h),
      Math.min(5, scale / 2),
    );
    context.fill();
    context.stroke();
    if (rack.top * scale >= 11) paintRackTitle(context, rack, box, scale, colours);
    rack.nodes.forEach((name, index) => {
      const row = rowOf(name);
      const at = screen(nodeBox({ rack, index }));
      if (row === undefined || at.y > size.height || at.y + at.h < 0) return;
      if (!seen({ ...at, x: at.x - rack.gutter * scale, w: at.w + rack.gutter * scale })) return;
      if (scale >= namesFrom) names.push([name.slice(rack.prefix), at, rack.gutter * scale, isClosed(row)]);
      collect(context, scene, row, at, batches, letters);
    });
  }
  for (const batch of batches.values()) drawBatch(context, batch, scale);
  drawLetters(context, letters);
  drawNames(context, names, scale, colours);
}

function paintRackTitle(context, rack, box, scale, colours) {
  context.font = `600 11px ${font}`;
  context.fillStyle = colours.muted;
  context.textAlign = 'left';
  const inset = 0.6 * scale;
  context.fillText(clipped(context, rack.title, box.w - 2 * inset), box.x + inset, box.y + (rack.top * scale) / 2);
}

// Adds the cells of one node to the batches of their looks.
function collect(context, scene, row, at, batches, letters) {
  const scale = scene.camera.scale;
  const cells = cachedRuns(row);
  const closed = isClosed(row);
  const squeeze = squeezeOf(cells, at.w / scale);
  const top = Math.round(at.y);
  const height = Math.max(1, Math.round(at.y + at.h) - top);
  for (const run of cells) {
    const look = lookOf(context, scene, run.use, closed);
    if (!batches.has(look.key)) batches.set(look.key, { look, rectangles: [] });
    const rectangles = batches.get(look.key).rectangles;
    const unit = run.width * scale * squeeze;
    const left = at.x + run.x * scale * squeeze;
    if (unit < gapsFrom && look.mark === '') {
      const x = Math.round(left);
      rectangles.push([x, top, Math.max(1, Math.round(left + run.n * unit) - x), height]);
      continue;
    }
    for (let i = 0; i < run.n; i += 1) {
      const x = Math.round(left + i * unit);
      const width = Math.max(1, Math.round(left + (i + 1) * unit) - x - (unit >= 3 ? 1 : 0));
      rectangles.push([x, top, width, height]);
      if (unit < lettersFrom || look.letter === '') continue;
      const size = Math.round(Math.min(15, scale * 0.62, unit * 0.75)); // a slice is narrower than it is high
      const key = `${look.key} ${size}`;
      if (!letters.has(key)) letters.set(key, { look, size, spots: [] });
      letters.get(key).spots.push([x + width / 2, top + height / 2]);
    }
  }
}

function drawBatch(context, { look, rectangles }, scale) {
  context.globalAlpha = look.alpha * (look.fade ?? 1);
  context.fillStyle = look.fill;
  for (const [x, y, w, h] of rectangles) context.fillRect(x, y, w, h);
  context.globalAlpha = look.alpha;
  if (look.mark !== '' && scale >= gapsFrom) drawMarks(context, look, rectangles);
  context.globalAlpha = 1;
}

// The sign of a state, drawn over its colour: nobody has to tell states by colour alone.
function drawMarks(context, look, rectangles) {
  context.strokeStyle = look.stroke;
  context.lineWidth = 1;
  context.setLineDash(look.mark === 'dashes' ? [2, 2] : []);
  context.beginPath();
  for (const [x, y, w, h] of rectangles) {
    if (look.mark === 'cross') {
      const inset = Math.min(w, h) * 0.28;
      context.moveTo(x + inset, y + inset);
      context.lineTo(x + w - inset, y + h - inset);
      context.moveTo(x + w - inset, y + inset);
      context.lineTo(x + inset, y + h - inset);
    } else if (w > 2) {
      context.rect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
  }
  context.stroke();
  context.setLineDash([]);
}

function drawLetters(context, letters) {
  context.textAlign = 'center';
  context.lineJoin = 'round';
  for (const { look, size, spots } of letters.values()) {
    context.font = `600 ${size}px ${font}`;
    context.globalAlpha = look.alpha;
    context.fillStyle = look.ink;
    context.strokeStyle = look.halo ?? 'transparent';
    context.lineWidth = 4;
    for (const [x, y] of spots) {
      if (look.halo !== undefined) context.strokeText(look.letter, x, y + 0.5);
      context.fillText(look.letter, x, y + 0.5);
    }
  }
  context.globalAlpha = 1;
}

function drawNames(context, names, scale, colours) {
  const size = Math.max(9, Math.min(12, scale * 0.72));
  context.font = `${size}px ${mono}`;
  context.textAlign = 'right';
  context.fillStyle = colours.muted;
  for (const [name, at, gutter, closed] of names) {
    const text = clipped(context, name, gutter - 0.5 * scale, true);
    const x = at.x - 0.45 * scale;
    const y = at.y + at.h / 2;
    context.fillText(text, x, y + 0.5);
    if (closed) context.fillRect(x - context.measureText(text).width, y, context.measureText(text).width, 1);
  }
  context.textAlign = 'left';
}

function paintCursor(context, box, colours) {
  context.strokeStyle = colours.accent;
  context.lineWidth = 2;
  context.strokeRect(box.x - 2, box.y - 2, box.w + 4, box.h + 4);
}

// The text, or as much of it as fits with "…": from the end where `end` is set, for names that differ there.
function clipped(context, text, width, end = false) {
  if (context.measureText(text).width <= width) return text;
  const each = context.measureText('0').width;
  const fit = Math.max(0, Math.floor(width / each) - 1);
  if (fit === 0) return '';
  return end ? `…${text.slice(-fit)}` : `${text.slice(0, fit)}…`;
}
