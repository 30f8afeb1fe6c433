// The time by the server's clock, once a second.
import { signal } from '@preact/signals';

let ahead = 0; // of this computer's clock before the server's, in seconds

export const now = signal(Date.now() / 1000);

function tick() {
  now.value = Date.now() / 1000 - ahead;
}
setInterval(tick, 1000);

// `date` is the header of an answer that has just come. It has whole seconds: half of one is the best guess.
export function learnServerTime(date) {
  const at = Date.parse(date ?? '');
  if (Number.isNaN(at)) return;
  const difference = (Date.now() - at) / 1000 - 0.5;
  ahead = Math.abs(difference) < 2 ? 0 : difference;
  tick();
}
