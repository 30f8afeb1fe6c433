// Answers of the server that are asked for only when somebody looks, and not too often.
import { signal } from '@preact/signals';
import { ask } from './ask.js';
import { headers, link } from './stream.js';
import { gangRow } from './store.js';

const most = 300; // answers that are kept

// Answers about gangs under one path. `soonest`: milliseconds before one is asked for again, `latest`: for a gang whose
// row has not changed meanwhile.
export class Answers {
  #path;
  #soonest;
  #latest;
  #known = new Map();

  constructor(path, soonest, latest) {
    this.#path = path;
    this.#soonest = soonest;
    this.#latest = latest;
  }

  // null = not here yet, {body} or {error}. Reading it subscribes.
  of(key) {
    return this.#entryOf(key).answer.value;
  }

  // Sees to it that the answer for `key` is not old. Call it as often as you like.
  want(key) {
    const entry = this.#entryOf(key);
    const age = Date.now() - entry.asked;
    const row = gangRow(key);
    if (document.hidden || link.value.state !== 'live') return;
    if (age < this.#soonest || (age < this.#latest && row === entry.row)) return;
    entry.asked = Date.now();
    entry.row = row;
    this.#ask(key, entry.answer);
  }

  #entryOf(key) {
    if (!this.#known.has(key) && this.#known.size >= most) this.#known.delete(this.#known.keys().next().value);
    if (!this.#known.has(key)) this.#known.set(key, { answer: signal(null), asked: -Infinity, row: null });
    return this.#known.get(key);
  }

  async #ask(key, answer) {
    const slash = key.indexOf('/');
    const query = new URLSearchParams({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
    try {
      const response = await ask(this.#path, query, { headers: headers() });
      if (response.ok) answer.value = { body: await response.json() };
      else
        answer.value = {
          error: (await response.text()).trim().slice(0, 500) || `the server answered ${response.status}`,
        };
    } catch (error) {
      answer.value = { error: error.message };
    }
  }
}

// Finding out what would help costs the scheduler a few decisions.
export const explanations = new Answers('explain', 15_000, 60_000);
export const stories = new Answers('log', 2000, 30_000);
