// Times in words that stay true while the page is open; the day, the time and its zone are in the title.
import { useComputed, useSignal } from '@preact/signals';
import { now } from './clock.js';
import { clockTime, duration, fullTime, relative } from './format.js';
import { html } from './html.js';

// Only the text changes as time goes by, and only when it reads differently.
function Ticking({ at, write }) {
  const time = useSignal(at);
  time.value = at;
  const text = useComputed(() => write(time.value, now.value));
  return html`<time dateTime=${new Date(at * 1000).toISOString()} title=${fullTime(at)}>${text}</time>`;
}

export function Relative({ at }) {
  return html`<${Ticking} at=${at} write=${relative} />`;
}

export function Age({ at }) {
  return html`<${Ticking} at=${at} write=${(from, to) => duration(to - from)} />`;
}

export function ClockTime({ at }) {
  return html`<${Ticking} at=${at} write=${clockTime} />`;
}
