// The gangs that wait, by priority and waiting time: why, what would help, when.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { explanations } from './answers.js';
import { now } from './clock.js';
import { asksText, number, plural } from './format.js';
import { html } from './html.js';
import { QueueMark } from './marks.js';
import { cluster, gangKey, gangRow, gangs, sees, waiting, waits, whyEmpty } from './store.js';
import { Age, ClockTime, Relative } from './times.js';
import { lights, lit, open, pinnedQueue } from './view.js';

const explained = 3; // rows from the top whose help is asked for without anybody's asking
const capped = 200; // rows; whoever looks for one further down filters

const namespaceFilter = signal('');
const reasonFilter = signal('');

export function Waiting() {
  const all = waiting.value;
  const matching = all.filter(
    (gang) =>
      (pinnedQueue.value === '' || gang.queue === pinnedQueue.value) &&
      (namespaceFilter.value === '' || gang.ns === namespaceFilter.value) &&
      (reasonFilter.value === '' || gang.reason === reasonFilter.value),
  );
  const [held, setHeld] = useState(false);
  const [focused, setFocused] = useState('');
  const { keys, others } = useStillOrder(matching.map(gangKey), held);
  const shown = keys.slice(0, capped);
  const helped = [...new Set(shown.slice(0, explained).concat(focused || []))];
  useHelp(helped);
  const count = `${matching.length < all.length ? `${number(matching.length)} of ` : ''}${number(all.length)}`;
  return html`
    <section class="panel waiting" aria-labelledby="waiting-title">
      <div class="panel-head">
        <h2 id="waiting-title">Waiting <span class="count">${count}</span></h2>
        ${others > 0 && html`<span class="muted">${number(others)} more when you leave the list</span>`}
      </div>
      ${all.length > 0 && html`<${Filters} gangs=${all} />`}
      <div
        class="panel-body"
        tabindex="0"
        role="region"
        aria-label="Gangs that wait"
        onPointerEnter=${(event) => setHeld(event.pointerType === 'mouse')}
        onPointerLeave=${() => setHeld(false)}
      >
        ${shown.length === 0 && html`<p class="empty">${emptyText(all.length)}</p>`}
        <ol class="gangs">
          ${shown.map(
            (key) => html`<${Row} key=${key} name=${key} withHelp=${helped.includes(key)} onFocus=${setFocused} />`,
          )}
        </ol>
        ${
          keys.length > capped &&
          html`<p class="empty">The first ${capped} of ${number(keys.length)} are shown. Filter to see others.</p>`
        }
      </div>
    </section>
  `;
}

function emptyText(all) {
  if (all > 0) return whyEmpty('No gang that waits matches the filter.');
  if (!cluster.value.leading) return whyEmpty('This scheduler stands by. Only the one that decides knows who waits.');
  const chosen = sees.value.namespace; // which may be mistyped
  if (chosen && gangs.value.length === 0) return `No gang of namespace ${chosen} is known.`;
  return 'Nobody waits. Every gang that asked has its place. ✓';
}

// While `held`, rows stay where they are: gone ones are kept, new ones are only counted.
function useStillOrder(keys, held) {
  const kept = useRef(keys);
  if (!held) kept.current = keys;
  const old = new Set(kept.current);
  return { keys: kept.current, others: keys.filter((key) => !old.has(key)).length };
}

function useHelp(keys) {
  const wanted = keys.join('\n');
  useEffect(() => {
    const ask = () => keys.forEach((key) => explanations.want(key));
    return now.subscribe(ask); // which also calls it at once
  }, [wanted]);
}

function Filters({ gangs }) {
  const values = (pick) => [...new Set(gangs.map(pick).filter(Boolean))].sort();
  return html`
    <div class="filters">
      <${Choice} label="Queue" value=${pinnedQueue} values=${values((gang) => gang.queue)} />
      <${Choice} label="Namespace" value=${namespaceFilter} values=${values((gang) => gang.ns)} />
      <${Choice} label="Reason" value=${reasonFilter} values=${values((gang) => gang.reason)} />
    </div>
  `;
}

function Choice({ label, value, values }) {
  const choose = (event) => {
    value.value = event.currentTarget.value;
  };
  const all = value.value === '' || values.includes(value.value) ? values : [value.value, ...values];
  return html`
    <select aria-label=${`Show only this ${label.toLowerCase()}`} value=${value.value} onChange=${choose}>
      <option value="">all ${label.toLowerCase()}s</option>
      ${all.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
    </select>
  `;
}

function Row({ name, withHelp, onFocus }) {
  const gang = gangRow(name);
  const last = useRef(gang);
  if (gang !== undefined) last.current = gang;
  const shown = last.current;
  if (shown === undefined) return null;
  const gone = gang === undefined || !waits(gang);
  const isLit = lit.value?.queue !== undefined && lit.value.queue === shown.queue;
  const classes = `gang ${gone ? 'gone' : ''} ${isLit ? 'lit' : ''}`;
  const openIt = (event) => {
    open.value = { gang: name, from: event.currentTarget };
  };
  return html`
    <li class=${classes} ...${lights({ gang: name })} onFocusCapture=${() => onFocus(name)}>
      <span class="gang-position">${shown.position ? number(shown.position) : '·'}</span>
      <div class="gang-line">
        <button type="button" class="gang-name" aria-label=${`${shown.name} in ${shown.ns}`} onClick=${openIt}>
          ${shown.name}
        </button>
        <span class="muted gang-ns">${shown.ns}</span>
        <span class="gang-asks">${asksText(shown)}</span>
        <span class="gang-age muted">${shown.created ? html`<${Age} at=${shown.created} />` : ''}</span>
      </div>
      <div class="gang-line">
        ${shown.queue && html`<span class="gang-queue"><${QueueMark} name=${shown.queue} />${shown.queue}</span>`}
        <span class="reason">${gone ? 'no longer waits' : shown.reason}</span>
      </div>
      ${shown.message && html`<p class="message">${shown.message}</p>`}
      ${shown.start?.at && html`<p class="planned"><${Planned} start=${shown.start} /></p>`}
      ${withHelp && html`<${HelpLine} name=${name} />`}
    </li>
  `;
}

function Planned({ start }) {
  const { at, estimated } = start;
  return html`
    <span aria-hidden="true">▸ </span>${estimated ? 'starts about ' : 'starts '}<${ClockTime} at=${at} />${' '}
    <span class="muted">(<${Relative} at=${at} />)</span>
  `;
}

// The smallest changes that would let it start, each alone enough.
function HelpLine({ name }) {
  const help = explanations.of(name)?.body?.help ?? [];
  if (help.length === 0) return null;
  return html`
    <div class="help">
      <span class="help-title">would help</span>
      <ul>
        ${help.slice(0, 3).map((each) => html`<li>${each.sentence}</li>`)}
        ${help.length > 3 && html`<li class="muted">and ${plural(help.length - 3, 'other way')}</li>`}
      </ul>
    </div>
  `;
}
