// Labels on a time line without overlap. Knows no DOM.

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
