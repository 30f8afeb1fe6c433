// What has become of a gang so far: the decisions about it that the scheduler remembers, the newest first.
import { number } from './format.js';
import { html } from './html.js';
import { ClockTime } from './times.js';

const shown = 30; // the newest

// In words for people; others are shown as they are.
const words = {
  place: 'a place was found',
  park: 'refused',
  bound: 'its quorum is bound',
  lost: 'it lost its quorum',
  restored: 'its quorum is whole again',
  undone: 'the binding was undone',
  preempt: 'others are made to leave',
  claim: 'their room is kept for it',
  left: 'it has left',
  stays: 'it stays after all',
  reserve: 'room is held for a start',
  backfill: 'it may run until others start',
};

export function Story({ decisions }) {
  if (decisions.length === 0) return null;
  const newest = decisions.slice(-shown).reverse();
  return html`
    <h3>So far</h3>
    <ol class="story">
      ${newest.map(
        (each) => html`<li key=${`${each.since} ${each.what}`}>
          <span class="muted"><${ClockTime} at=${each.at} /></span>
          <span>${words[each.what] ?? each.what}${timesText(each)}<span class="muted story-text">${each.text}${refusedText(each)}</span></span>
        </li>`,
      )}
    </ol>
  `;
}

// Flavors that were tried before the one taken.
function refusedText({ refused }) {
  return refused ? ` (not: ${refused})` : '';
}

function timesText({ times, since }) {
  const count = Number(times);
  return count > 1 ? html`, ${number(count)} times since <${ClockTime} at=${since} />` : '';
}
