// The small square with a letter that stands for a Queue everywhere on the page.
import { hueColour, inkOn } from './colour.js';
import { html } from './html.js';
import { marks } from './store.js';
import { theme } from './view.js';

export function queueColour(name) {
  const mark = marks.value.get(name);
  return mark === undefined ? 'var(--other)' : hueColour(mark.hue, theme.value);
}

export function QueueMark({ name }) {
  const mark = marks.value.get(name);
  if (mark === undefined) return html`<span class="mark" aria-hidden="true"></span>`;
  const colour = hueColour(mark.hue, theme.value);
  const style = { background: colour, color: inkOn(colour) };
  return html`<span class="mark" aria-hidden="true" style=${style}>${mark.letter}</span>`;
}
