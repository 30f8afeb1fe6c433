// One gang in full, asked for only when somebody looks, and not too often.
import { signal } from '@preact/signals';
import { headers, link } from './stream.js';
import { gangRow } from './store.js';

const soonest = 15_000; // finding out what would help costs the scheduler a few decisions
const latest = 60_000; // for a gang whose row does not change: the cluster around it does

const most = 300; // answers that are kept

const answers = new Map();

function entryOf(key) {
  if (!answers.has(key) && answers.size >= most) answers.delete(answers.keys().next().value);
  if (!answers.has(key)) answers.set(key, { answer: signal(null), asked: -Infinity, row: null });
  return answers.get(key);
}

// null = not here yet, {gang} or {error}. Reading it subscribes.
export function explanationOf(key) {
  return entryOf(key).answer.value;
}

// Sees to it that the explanation of `key` is not old. Call it as often as you like.
export function wantExplanation(key) {
  const entry = entryOf(key);
  const age = Date.now() - entry.asked;
  const row = gangRow(key);
  if (document.hidden || link.value.state !== 'live') return;
  if (age < soonest || (age < latest && row === entry.row)) return;
  entry.asked = Date.now();
  entry.row = row;
  ask(key, entry.answer);
}

async function ask(key, answer) {
  const slash = key.indexOf('/');
  const query = new URLSearchParams({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
  try {
    const response = await fetch(`explain?${query}`, { headers: headers(), cache: 'no-store' });
    if (response.ok) answer.value = { gang: await response.json() };
    else
      answer.value = {
        error: (await response.text()).trim().slice(0, 500) || `the server answered ${response.status}`,
      };
  } catch (error) {
    answer.value = { error: error.message };
  }
}
