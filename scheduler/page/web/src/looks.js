// How a cell is drawn: its colour by the Queue, its sign by the state.
import { stateOf } from './cells.js';
import { hueColour, inkOn } from './colour.js';

const plain = { alpha: 1, mark: '', letter: '' };

// The look of a cell of this use: how it is filled, which sign lies over it, and its letter. Equal looks have equal
// keys. `closed`: nothing new starts on the node, which is seen where it is free.
export function lookOf(context, { colours, marks, theme, isLit }, use, closed) {
  if (use === null) {
    if (!closed) return { ...plain, key: 'free', fill: colours.free };
    const fill = closedPattern(context, colours);
    return { ...plain, key: 'closed', fill, mark: 'cross', stroke: colours.muted, alpha: isLit === null ? 1 : 0.5 };
  }
  const state = stateOf(use);
  const { hue, letter } = marks.get(use.queue) ?? { hue: -1, letter: '' };
  const colour = hue < 0 ? colours.other : hueColour(hue, theme);
  const bright = isLit === null || isLit(use);
  const look = { ...plain, key: `${state} ${hue} ${letter} ${bright}`, letter, alpha: bright ? 1 : 0.16 };
  if (state === 'held') {
    const text = { ink: colours.text, halo: colours.panel }; // a hatch alone would make the letter hard to read
    return { ...look, ...text, fill: hatch(context, colour), mark: 'outline', stroke: colour };
  }
  if (state === 'leaving') {
    return { ...look, fill: colour, fade: 0.3, mark: 'dashes', stroke: colour, ink: colours.text };
  }
  return { ...look, fill: colour, ink: inkOn(colour) };
}

const patterns = new Map();
function pattern(context, key, draw) {
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas');
    [tile.width, tile.height] = [6, 6];
    draw(tile.getContext('2d'));
    patterns.set(key, context.createPattern(tile, 'repeat'));
  }
  return patterns.get(key);
}

function hatch(context, colour) {
  return pattern(context, colour, (tile) => {
    tile.strokeStyle = colour;
    tile.lineWidth = 1.8;
    tile.beginPath();
    for (const shift of [-6, 0, 6]) {
      tile.moveTo(shift - 1, 7);
      tile.lineTo(shift + 7, -1);
    }
    tile.stroke();
  });
}

function closedPattern(context, colours) {
  return pattern(context, `closed ${colours.free} ${colours.muted}`, (tile) => {
    tile.fillStyle = colours.free;
    tile.fillRect(0, 0, 6, 6);
    tile.fillStyle = colours.muted;
    tile.globalAlpha = 0.35;
    tile.fillRect(0, 0, 1, 6);
    tile.fillRect(0, 0, 6, 1);
  });
}
