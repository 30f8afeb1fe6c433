import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, hueColour, hueCount, inkOn, marksOf } from '../src/colour.js';

const names = (count) => Array.from({ length: count }, (_, index) => `team-${index}`);

// Fear: two Queues look alike although a colour is free, or neighbours do when none is.
test('Queues have colours of their own while there are enough, and neighbours always', () => {
  const few = [...marksOf(names(hueCount)).values()].map((mark) => mark.hue);
  assert.equal(new Set(few).size, hueCount);
  const many = [...marksOf(names(60)).values()].map((mark) => mark.hue);
  many.forEach((hue, index) => assert.ok(!many.slice(Math.max(0, index - 5), index).includes(hue), `at ${index}`));
});

// Fear: two of twenty Queues cannot be told apart, with most marks unused.
test('Queues differ in colour or letter while their names have letters enough, and all colours are used', () => {
  for (const count of [20, 60]) {
    const marks = [...marksOf(names(count)).values()];
    assert.equal(new Set(marks.map(({ hue, letter }) => `${hue} ${letter}`)).size, count);
  }
  const later = [...marksOf(names(60)).values()].slice(hueCount);
  assert.equal(new Set(later.map((mark) => mark.hue)).size, hueCount);
});

// Fear: a Queue changes its colour when another one is added after it, or with the next load.
test('a Queue keeps its mark', () => {
  const before = marksOf(names(8));
  const after = marksOf(names(12));
  for (const [name, mark] of before) assert.deepEqual(after.get(name), mark);
});

// Fear: every letter is T, because every name begins with "team-".
test('letters come from the part of the name that differs', () => {
  const letters = [...marksOf(['team-beta', 'team-bio', 'team-gamma']).values()].map((mark) => mark.letter);
  assert.deepEqual(letters, ['B', 'I', 'G']);
});

// Fear: somebody adds a fine colour on which no letter can be read.
test('every letter can be read on its colour', () => {
  for (const theme of ['light', 'dark']) {
    for (let hue = 0; hue < hueCount; hue += 1) {
      const colour = hueColour(hue, theme);
      assert.ok(contrast(colour, inkOn(colour)) >= 4.5, `${theme} ${colour}`);
    }
  }
});
