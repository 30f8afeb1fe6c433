// One canvas with the map on it: drawn when something changed, moved by pointer and keys. Knows no Preact.
import { effect } from '@preact/signals';
import { between, fitCamera, panBy, reveal, zoomAt, zoomTo } from './camera.js';
import { widthOf } from './cells.js';
import { cellsFrom, layoutMap } from './layout.js';
import { paint } from './paint.js';
import { boxOfSpot, gangAt, nextSpot, spotAt } from './spots.js';
import { changedNodes, marks, nodeVersion, tables } from './store.js';
import { byNvlink, calmMotion, lit, open, placeOf, soughtNode, theme } from './view.js';

const rowOf = (name) => tables.node.get(name);
export const zoomStep = 1.35;
const clickReach = 4; // pixels; who moves farther drags

// `onPoint` is told the spot that the pointer or the cursor is on, with the pixel (x, y); null = none.
export class MapView {
  #canvas;
  #context;
  #onPoint;
  #size = null; // {width, height} in CSS pixels; null until the first layout
  #map = null;
  #camera = null;
  #isFitted = true; // stays so until the reader moves; then a new size keeps the place instead
  #cursor = null; // a spot, moved by keys
  #colours = null;
  #frame = 0;
  #stops = [];
  #animation = 0;
  #moved = Infinity; // pixels since the button went down

  constructor(canvas, onPoint) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false });
    this.#onPoint = onPoint;
    const resize = new ResizeObserver(() => this.#resize());
    resize.observe(canvas.parentElement);
    this.#stops = [
      () => resize.disconnect(),
      effect(() => this.#takeRows(nodeVersion.value)),
      effect(() => this.#takePlaces(byNvlink.value)),
      effect(() => this.#takeTheme(theme.value)),
      effect(() => this.#takeLight(lit.value, marks.value)),
      effect(() => this.#seek(soughtNode.value)),
    ];
  }

  close() {
    for (const stop of this.#stops) stop();
    cancelAnimationFrame(this.#frame);
    cancelAnimationFrame(this.#animation);
  }

  #takeRows() {
    if (this.#size === null) return;
    if (this.#map !== null && [...changedNodes].every((name) => this.#keepsShape(name))) {
      for (const name of changedNodes) this.#map.places.get(name).rack.sums = undefined;
      this.#draw();
    } else {
      this.#arrange();
    }
  }

  // Everything stands elsewhere: all of it is shown.
  #takePlaces() {
    if (this.#map === null) return;
    this.#isFitted = true;
    this.#arrange();
  }

  // False when the node came, went, moved to another rack or got other GPUs: then all is laid out anew.
  #keepsShape(name) {
    const row = rowOf(name);
    const place = this.#map.places.get(name);
    if (row === undefined || place === undefined) return false;
    return place.shape === shapeOf(row);
  }

  #takeTheme() {
    // The attribute that carries the theme is set by another effect of the same change: read the colours after it.
    queueMicrotask(() => {
      const style = getComputedStyle(document.documentElement);
      const names = ['ground', 'panel', 'line', 'free', 'other', 'text', 'muted', 'accent'];
      this.#colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
      this.#draw();
    });
  }

  #takeLight() {
    for (const rack of this.#map?.racks ?? []) rack.sums = undefined;
    this.#draw();
  }

  #seek(sought) {
    const place = sought === null ? undefined : this.#map?.places.get(sought.name);
    if (place === undefined) return;
    this.#cursor = { rack: place.rack, node: sought.name, run: 0 };
    this.#go(zoomTo(place.rack, this.#map, this.#size));
    this.#canvas.focus();
    soughtNode.value = null;
  }

  #resize() {
    const box = this.#canvas.parentElement.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.#size = { width: Math.max(50, box.width), height: Math.max(50, box.height) };
    this.#canvas.width = Math.round(this.#size.width * ratio);
    this.#canvas.height = Math.round(this.#size.height * ratio);
    if (this.#isFitted) this.#arrange();
    this.#draw();
    this.#seek(soughtNode.peek()); // it may have been sought before there was a map
  }

  #arrange() {
    this.#map = layoutMap([...tables.node.values()], this.#size.width - 16, this.#size.height - 16, placeOf);
    for (const [name, place] of this.#map.places) place.shape = shapeOf(rowOf(name));
    if (this.#isFitted || this.#camera === null) this.#camera = fitCamera(this.#map, this.#size);
    if (this.#cursor !== null && !this.#boxOfCursor()) this.#cursor = null;
    this.#draw();
  }

  #draw() {
    if (this.#frame !== 0 || this.#map === null || this.#colours === null) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const ratio = this.#canvas.width / this.#size.width;
      this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(this.#context, {
        map: this.#map,
        rowOf,
        camera: this.#camera,
        size: this.#size,
        theme: theme.peek(),
        colours: this.#colours,
        marks: marks.peek(),
        isLit: litTest(lit.peek()),
        cursor: this.#boxOfCursor(),
      });
    });
  }

  get #showsCells() {
    return this.#camera.scale >= cellsFrom;
  }

  #go(target) {
    this.#isFitted = false;
    cancelAnimationFrame(this.#animation);
    const from = this.#camera;
    const began = performance.now();
    const step = (time) => {
      const part = calmMotion() ? 1 : Math.min(1, Math.max(0, time - began) / 140);
      this.#camera = between(from, target, part * (2 - part));
      this.#draw();
      if (part < 1) this.#animation = requestAnimationFrame(step);
    };
    step(began);
  }

  #set(camera) {
    this.#isFitted = false;
    cancelAnimationFrame(this.#animation);
    this.#camera = camera;
    this.#draw();
  }

  fit() {
    this.#arrange();
    this.#go(fitCamera(this.#map, this.#size));
    this.#isFitted = true; // which #go took back
  }

  zoom(factor) {
    const box = this.#boxOfCursor();
    const at = box === null ? this.#middle() : this.#pixelOf(box);
    this.#go(zoomAt(this.#camera, factor, at.x, at.y, this.#map, this.#size));
  }

  #middle() {
    return { x: this.#size.width / 2, y: this.#size.height / 2 };
  }

  #pixelOf(box) {
    const { scale, x, y } = this.#camera;
    return { x: (box.x + box.w / 2 - x) * scale, y: (box.y + box.h / 2 - y) * scale };
  }

  #under(px, py) {
    if (this.#map === null) return null;
    const { scale, x, y } = this.#camera;
    return spotAt(this.#map, rowOf, x + px / scale, y + py / scale, this.#showsCells);
  }

  onPointerDown() {
    this.#moved = 0;
  }

  onPointerMove(event) {
    const [px, py] = [event.offsetX, event.offsetY];
    if (event.buttons === 1 && this.#moved < Infinity) {
      this.#moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      if (this.#moved > clickReach) {
        if (!this.#canvas.hasPointerCapture(event.pointerId)) this.#canvas.setPointerCapture(event.pointerId);
        this.#set(panBy(this.#camera, -event.movementX, -event.movementY, this.#map, this.#size));
        this.#onPoint(null);
      }
      return;
    }
    const under = this.#under(px, py);
    this.#canvas.style.cursor = under === null ? 'grab' : under.node && !gangAt(rowOf, under) ? 'default' : 'pointer';
    this.#onPoint(under && { ...under, x: px, y: py });
  }

  onClick(event) {
    const dragged = this.#moved > clickReach;
    this.#moved = Infinity;
    if (dragged) return;
    const under = this.#under(event.offsetX, event.offsetY);
    if (under === null) return;
    this.leave();
    if (under.node === undefined) this.#enterRack(under.rack);
    else this.#openGang(under);
  }

  #enterRack(rack) {
    const target = zoomTo(rack, this.#map, this.#size);
    if (Math.abs(target.scale - this.#camera.scale) < 0.5) this.fit();
    else this.#go(target);
  }

  #openGang(spot) {
    const gang = gangAt(rowOf, spot);
    if (gang !== undefined) open.value = { gang, from: this.#canvas };
  }

  onWheel(event) {
    event.preventDefault();
    this.leave();
    const factor = Math.exp(-Math.max(-240, Math.min(240, event.deltaY * (event.deltaMode === 1 ? 30 : 1))) / 400);
    this.#set(zoomAt(this.#camera, factor, event.offsetX, event.offsetY, this.#map, this.#size));
  }

  onKey(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey || this.#map === null) return;
    if (arrows[event.key] !== undefined) this.#move(arrows[event.key]);
    else if (event.key === '+' || event.key === '=') this.zoom(zoomStep);
    else if (event.key === '-') this.zoom(1 / zoomStep);
    else if (event.key === '0') this.fit();
    else if (event.key === 'Enter' && this.#cursor !== null) this.#enter();
    else return;
    event.preventDefault();
  }

  #enter() {
    if (this.#cursor.node !== undefined) {
      this.#openGang(this.#cursor);
      return;
    }
    const rack = this.#cursor.rack;
    this.#cursor = { rack, node: rack.nodes[0], run: 0 };
    this.#enterRack(rack);
  }

  #move(direction) {
    const next = nextSpot(this.#map, rowOf, this.#cursor, direction, this.#showsCells);
    const box = next === null ? null : boxOfSpot(this.#map, rowOf, next);
    if (box === null) return;
    this.#cursor = next;
    this.#set(reveal(this.#camera, box, this.#map, this.#size));
    this.#onPoint({ ...next, ...this.#pixelOf(box), byKeys: true });
  }

  // The rectangle of the cursor on the map; null when there is none, or what it was on is gone.
  #boxOfCursor() {
    return this.#cursor === null ? null : boxOfSpot(this.#map, rowOf, this.#cursor);
  }

  leave() {
    this.#onPoint(null);
  }
}

function shapeOf(row) {
  return `${widthOf(row)} ${JSON.stringify(placeOf(row))}`;
}

// A gang that has nothing on the map lights nothing: then all stays as bright as it is.
function litTest(what) {
  if (what === null) return null;
  if (what.gang === undefined) return (use) => use.queue === what.queue;
  const isOfGang = (use) => use.gang === what.gang;
  const isAt = (row) => (row.gpus ?? []).some((gpu) => (gpu.uses ?? []).some(isOfGang));
  for (const row of tables.node.values()) if (isAt(row)) return isOfGang;
  return null;
}
