// Keeps the rows up to date: asks for the stream, reads it, and asks again when it ends or breaks.
//
// EventSource is not used because it can send no token, and does not tell why an answer was refused.
import { signal } from '@preact/signals';
import { ask } from './ask.js';
import { learnServerTime } from './clock.js';
import { EventParser } from './sse.js';
import { takeEvent } from './store.js';

const firstPause = 500;
const longestPause = 10_000;
const silence = 40_000; // an event comes every two seconds; without any for so long the stream is dead
const shortest = 1000; // a stream that ends sooner counts as a failure, or the page would ask without pause

// {state: 'connecting' | 'live' | 'pausing' | 'needs-token' | 'refused', why, until}. `until`: when a pause ends, in
// milliseconds of Date.now().
export const link = signal({ state: 'connecting' });
export const namespace = signal(new URLSearchParams(location.search).get('namespace') ?? '');

let token = ''; // in memory only: a page that is loaded again asks for it again
let since = '';
let run = null; // the AbortController of the stream that is wanted; another one ends it
let failures = 0;

export function headers() {
  return token === '' ? {} : { 'X-Maniple-Token': token };
}

export function giveToken(text) {
  token = text;
  since = ''; // another reader may see other rows
  connect();
}

// The address names it, too, so that a page that is loaded again or sent to somebody shows the same.
export function chooseNamespace(name) {
  history.replaceState(null, '', name === '' ? location.pathname : `?${new URLSearchParams({ namespace: name })}`);
  namespace.value = name;
  since = '';
  connect();
}

// Starts over, now.
export function connect() {
  run?.abort();
  run = new AbortController();
  failures = 0;
  follow(run.signal);
}

async function follow(stopped) {
  while (!stopped.aborted) {
    const began = Date.now();
    if (link.value.state !== 'live') link.value = { state: 'connecting' };
    const end = await readOnce(stopped);
    if (stopped.aborted) return;
    if (end.state !== undefined) {
      link.value = end;
      return;
    }
    if (!end.failed && Date.now() - began >= shortest) continue;
    failures += 1;
    const most = Math.min(longestPause, firstPause * 2 ** (failures - 1));
    const pause = most * (0.5 + Math.random() / 2); // so that many pages do not come back at once
    link.value = { state: 'pausing', why: end.why, until: Date.now() + pause };
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

// Reads one stream to its end. Gives {state, why} when there is no use in asking again, else {failed, why}.
async function readOnce(stopped) {
  const own = new AbortController();
  const stop = () => own.abort();
  stopped.addEventListener('abort', stop);
  let watchdog = setTimeout(stop, silence);
  try {
    const query = new URLSearchParams({ namespace: namespace.value, since });
    const answer = await ask('stream', query, { headers: headers(), signal: own.signal });
    learnServerTime(answer.headers.get('Date'));
    if (answer.status === 401) return { state: 'needs-token', why: await sentenceOf(answer) };
    if (answer.status === 403) return { state: 'refused', why: await sentenceOf(answer) };
    if (!answer.ok) return { failed: true, why: await sentenceOf(answer) };
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { failed: true, why: 'the stream broke' };
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, silence);
      for (const event of parser.push(value)) {
        const end = take(event);
        if (end !== null) return end;
      }
    }
  } catch (error) {
    return { failed: true, why: own.signal.aborted ? 'no sign of life' : error.message };
  } finally {
    clearTimeout(watchdog);
    stopped.removeEventListener('abort', stop);
    own.abort();
  }
}

function take(event) {
  if (event.type === 'end') return { failed: false, why: JSON.parse(event.data).why };
  if (event.type !== 'rows') return null;
  try {
    takeEvent(JSON.parse(event.data));
  } catch (error) {
    since = ''; // half an event may have been applied: ask for all
    throw error;
  }
  since = event.id;
  failures = 0;
  if (link.value.state !== 'live') link.value = { state: 'live' };
  return null;
}

async function sentenceOf(answer) {
  const text = (await answer.text()).trim();
  const isPlain = (answer.headers.get('Content-Type') ?? '').startsWith('text/plain');
  return isPlain && text !== '' ? text.slice(0, 500) : `the server answered ${answer.status}`;
}
