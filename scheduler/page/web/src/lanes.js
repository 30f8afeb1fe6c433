// A time line without its drawing: labels without overlap, and what it shows in words. Knows no DOM.
import { number } from './format.js';

// `events` are {at, text}; `widthOf(text)` is in pixels. Gives marks {event, x, right, lane, more}: the label begins at
// x, or ends `right` pixels before the end of the line. `more` are later events whose label would cover another.
export function placeEvents(events, { from, to, width, lanes, widthOf }) {
  const ends = new Array(lanes).fill(0);
  const marks = [];
  const sorted = [...events].sort((a, b) => a.at - b.at);
  for (const event of sorted) {
    const x = (Math.max(0, event.at - from) / (to - from)) * width;
    const size = widthOf(event.text);
    const isLast = x + size > width; // then the label stands before its moment
    const left = isLast ? Math.max(0, x - size) : x;
    const lane = ends.findIndex((end) => end <= left);
    if (lane >= 0) {
      ends[lane] = left + size;
      marks.push({ event, x, right: isLast ? width - x : null, lane, more: [] });
    } else if (marks.length > 0) {
      marks[marks.length - 1].more.push(event);
    }
  }
  return marks;
}

// "3 planned to start · 2 known to end · 5 estimated to end". An end that nobody told is an estimate.
export function summary(starts, ends, later) {
  const known = ends.filter((event) => !event.estimated).length;
  return [
    [starts.length, 'planned to start'],
    [known, 'known to end'],
    [ends.length - known, 'estimated to end'],
    [later, 'later than shown'],
  ]
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${number(count)} ${words}`)
    .join(' · ');
}
