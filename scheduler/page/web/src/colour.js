// A colour and a letter for every Queue. Knows no DOM.
//
// The colours are chosen by a hash of the name, so that a Queue looks the same on every load. Neighbours in the tree
// are kept apart: while there are colours that no other Queue has, a Queue takes one of those. Later
// ones differ by the letter.
import { commonPrefix } from './format.js';

// Seven of Okabe and Ito, which colour-blind eyes tell apart, then five that lie between them.
const hues = [
  { light: '#e69f00', dark: '#e69f00' },
  { light: '#56b4e9', dark: '#56b4e9' },
  { light: '#009e73', dark: '#00a87b' },
  { light: '#e3d118', dark: '#f0e442' },
  { light: '#0072b2', dark: '#2b87c8' },
  { light: '#d55e00', dark: '#e0691a' },
  { light: '#cc79a7', dark: '#cc79a7' },
  { light: '#4b3f9e', dark: '#8277d8' },
  { light: '#44aa99', dark: '#44aa99' },
  { light: '#8f8f2e', dark: '#a3a33f' },
  { light: '#8c2d5f', dark: '#b8527f' },
  { light: '#7d5a3c', dark: '#a67c58' },
];
const first = 7;

export const hueCount = hues.length;

// FNV-1a: short, and spread well enough for a dozen colours.
export function hashOf(name) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) {
    hash ^= name.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

// Name → {hue, letter} for Queues in the order of the tree.
export function marksOf(names) {
  const marks = new Map();
  const prefix = commonPrefix(names).length;
  const [hues, letters, pairs] = [new Set(), new Set(), new Set()]; // that some Queue has
  names.forEach((name, index) => {
    const own = [...name.slice(prefix).toUpperCase()].filter((letter) => /[A-Z0-9]/.test(letter));
    const freeIn = (hue) => own.filter((letter) => !pairs.has(`${hue} ${letter}`));
    const near = new Set(names.slice(Math.max(0, index - 5), index).map((other) => marks.get(other).hue));
    const hue = freeHue(hashOf(name), hues) ?? sharedHue(hashOf(name), near, freeIn);
    const free = freeIn(hue);
    const letter = free.find((each) => !letters.has(each)) ?? free[0] ?? own[0] ?? '?';
    hues.add(hue);
    letters.add(letter);
    pairs.add(`${hue} ${letter}`);
    marks.set(name, { hue, letter });
  });
  return marks;
}

function freeHue(hash, taken) {
  for (let step = 0; step < first; step += 1) {
    const hue = (hash + step) % first;
    if (!taken.has(hue)) return hue;
  }
  const more = hueCount - first;
  for (let step = 0; step < more; step += 1) {
    const hue = first + ((hash + step) % more);
    if (!taken.has(hue)) return hue;
  }
  return undefined;
}

// One that no neighbour has, if possible one in which a letter of the name is free.
function sharedHue(hash, near, freeIn) {
  const all = Array.from({ length: hueCount }, (_, step) => (hash + step) % hueCount);
  const apart = all.filter((hue) => !near.has(hue));
  return apart.find((hue) => freeIn(hue).length > 0) ?? apart[0];
}

export function hueColour(hue, theme) {
  return hues[hue][theme];
}

// Black or white, whichever stands out more on `colour`.
export function inkOn(colour) {
  return contrast(colour, '#ffffff') > contrast(colour, '#000000') ? '#ffffff' : '#000000';
}

// As WCAG 2 defines it: 1 to 21.
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const parts = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
