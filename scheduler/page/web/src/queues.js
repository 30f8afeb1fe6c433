// The tree of cohorts and Queues: who may use how much, who uses it, who has borrowed and lent.
import { amount, isGpu, number, sevenths, shortResource } from './format.js';
import { html } from './html.js';
import { QueueMark, queueColour } from './marks.js';
import { sees, tree, whyEmpty } from './store.js';
import { lendersOf } from './tree.js';
import { hovered, lights, pinnedQueue } from './view.js';

export function Queues() {
  const entries = tree.value;
  return html`
    <section class="panel queues" aria-labelledby="queues-title">
      <div class="panel-head">
        <h2 id="queues-title">Queues</h2>
        <span class="muted">${pinnedQueue.value ? `only ${pinnedQueue.value}` : 'GPUs used / nominal'}</span>
        ${pinnedQueue.value && html`<button type="button" class="quiet" onClick=${unpin}>show all</button>`}
      </div>
      <div class="panel-body" tabindex="0" role="region" aria-label="Tree of Queues">
        ${entries.length === 0 && html`<p class="empty">${nothingText()}</p>`}
        <ul class="tree">
          ${entries.map((entry) => html`<${Entry} key=${`${entry.kind}/${entry.name}`} entry=${entry} />`)}
        </ul>
      </div>
    </section>
  `;
}

function unpin() {
  pinnedQueue.value = '';
}

function nothingText() {
  return whyEmpty(sees.value.queues === true ? 'There is no Queue.' : 'Queues are not shown to you.');
}

function Entry({ entry }) {
  const { kind, name, row, depth } = entry;
  const usage = (row.usage ?? []).filter((line) => line.nominal || line.used);
  const main = usage.filter((line) => isGpu(line.name));
  const shown = main.length > 0 ? main : usage.slice(0, 1);
  const rest = usage.filter((line) => !shown.includes(line));
  const counts = countsText(row);
  const countsBeside = shown.length > 0 && wordsOf(shown[0], needsFlavor(shown[0], shown), []) === '';
  const lenders = (line) => (kind === 'queue' && row.cohort ? lendersOf(tree.value, row, line) : []);
  const colour = kind === 'queue' ? queueColour(name) : 'var(--muted)';
  return html`
    <li class=${`entry ${kind}`} style=${{ '--depth': depth, '--hue': colour }}>
      ${kind === 'queue' && html`<${QueueHead} name=${name} />`}
      ${kind === 'cohort' && html`<div class="entry-head cohort-name">${name}</div>`}
      ${shown.map((line, index) => {
        const beside = index === 0 && countsBeside ? counts : '';
        const withFlavor = needsFlavor(line, shown);
        return html`<${Usage} line=${line} withFlavor=${withFlavor} lenders=${lenders(line)} beside=${beside} />`;
      })}
      ${!countsBeside && counts !== '' && html`<div class="muted usage-text">${counts}</div>`}
      ${hoursText(row)}
      ${row.problem && html`<div class="problem">${row.problem}</div>`}
      ${row.stop && row.stop !== 'None' && html`<div class="problem">stopped (${row.stop})</div>`}
      ${rest.length > 0 && html`<${Rest} name=${name} lines=${rest} />`}
    </li>
  `;
}

function needsFlavor(line, lines) {
  return lines.some((other) => other !== line && other.name === line.name);
}

// Clicking keeps the Queue lit and the list to its gangs, until it is clicked again.
function QueueHead({ name }) {
  const pinned = pinnedQueue.value === name;
  const toggle = () => {
    pinnedQueue.value = pinned ? '' : name;
    hovered.value = null;
  };
  return html`
    <button type="button" class="entry-head" aria-pressed=${pinned} onClick=${toggle} ...${lights({ queue: name })}>
      <${QueueMark} name=${name} />
      <span class="entry-name">${name}</span>
    </button>
  `;
}

// What it has used since it was made; whole GPUs only.
function hoursText({ hours = [] }) {
  const gpus = hours.filter((one) => isGpu(one.name) && sevenths(one.name) === 0);
  const total = gpus.reduce((sum, one) => sum + (one.total ?? 0), 0);
  const recent = gpus.reduce((sum, one) => sum + (one.recent ?? 0), 0);
  if (total === 0) return '';
  const title = `${number(total)} GPU-hours in all; ${number(recent)} where what was used halves every seven days`;
  return html`<div class="muted usage-text" title=${title}>${number(total)} GPU-hours</div>`;
}

function countsText({ running = 0, pending = 0 }) {
  const parts = [];
  if (running > 0) parts.push(`${number(running)} running`);
  if (pending > 0) parts.push(`${number(pending)} waiting`);
  return parts.join(' · ');
}

// One bar: used against nominal (the mark), beyond it what is borrowed, inside it what others have of it.
// `beside` stands where the bar has no words of its own.
function Usage({ line, withFlavor, lenders = [], beside }) {
  const { nominal = 0, used = 0, lent = 0 } = line;
  const whole = Math.max(nominal, used, 1);
  const own = Math.min(used, nominal);
  const part = (value) => `${(100 * value) / whole}%`;
  const written = (value) => amount(line.name, value);
  const of = line.flavor ? `${line.name}, flavor ${line.flavor}` : line.name;
  const title = `${of}: ${written(used)} used, ${written(nominal)} nominal`;
  const lentStyle = { left: part(Math.max(own, nominal - lent)), width: part(Math.min(lent, nominal - own)) };
  const borrowedStyle = { left: part(nominal), width: part(Math.max(0, used - nominal)) };
  return html`
    <div class="usage" title=${title}>
      <div class="bar" aria-hidden="true">
        <div class="bar-own" style=${{ width: part(own) }}></div>
        <div class="bar-lent" style=${lentStyle}></div>
        <div class="bar-borrowed" style=${borrowedStyle}></div>
        <div class="bar-nominal" style=${{ left: part(nominal) }}></div>
      </div>
      <span class="usage-text">${wordsOf(line, withFlavor, lenders)}<span class="muted">${beside}</span></span>
      <span class="usage-number">${written(used)}<span class="muted"> / ${written(nominal)}</span></span>
    </div>
  `;
}

// Whole GPUs are what nearly every bar is about: they go without saying.
function wordsOf({ name, flavor, borrowed, lent }, withFlavor, lenders) {
  const short = shortResource(name);
  const from = lenders.length > 0 ? ` from ${lenders.join(', ')}` : '';
  return [
    short === 'gpu' ? '' : short,
    withFlavor ? flavor : '',
    borrowed > 0 ? `borrows ${amount(name, borrowed)}${from}` : '',
    lent > 0 ? `lends ${amount(name, lent)}` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

// CPU, memory and the like, which seldom decide.
function Rest({ name, lines }) {
  return html`
    <details class="rest">
      <summary>${lines
        .map((line) => shortResource(line.name))
        .filter(isFirst)
        .join(', ')}<span class="hidden-text"> of ${name}</span></summary>
      ${lines.map((line) => html`<${Usage} line=${line} withFlavor=${needsFlavor(line, lines)} />`)}
    </details>
  `;
}

function isFirst(text, index, all) {
  return all.indexOf(text) === index;
}
