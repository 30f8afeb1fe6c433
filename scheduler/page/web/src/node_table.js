// The map as a table: the same for whoever does not see the canvas, or wants to search it.
import { signal } from '@preact/signals';
import { closedText, isClosed, runsOf, stateOf } from './cells.js';
import { number, plural, shortResource } from './format.js';
import { html } from './html.js';
import { QueueMark } from './marks.js';
import { nodeText } from './search.js';
import { nodes } from './store.js';
import { TableHead } from './table.js';
import { compare } from './tree.js';
import { open } from './view.js';

const capped = 200;
const filter = signal('');

export function NodeTable() {
  const wanted = filter.value.trim().toLowerCase();
  const matching = nodes.value.filter((node) => wanted === '' || nodeText(node).includes(wanted));
  matching.sort((a, b) => compare((a.path ?? []).join('/'), (b.path ?? []).join('/')) || compare(a.name, b.name));
  const note =
    matching.length > capped
      ? `the first ${capped} of ${number(matching.length)} nodes; filter to see others`
      : plural(matching.length, 'node');
  const onInput = (event) => {
    filter.value = event.currentTarget.value;
  };
  return html`
    <div class="filters">
      <input
        type="search"
        aria-label="Filter nodes"
        placeholder="node, domain, gang, queue"
        value=${filter.value}
        onInput=${onInput}
      />
      <span class="muted" role="status">${note}</span>
    </div>
    <div class="panel-body" tabindex="0" role="region" aria-label="Table of nodes">
      <table class="nodes">
        <${TableHead} columns=${['node', 'where', 'GPUs', 'free', 'used by']} />
        <tbody>${matching.slice(0, capped).map((node) => html`<${Row} key=${node.name} node=${node} />`)}</tbody>
      </table>
    </div>
  `;
}

function Row({ node }) {
  const gpus = node.gpus ?? [];
  const each = (write) => gpus.map((gpu) => html`<div>${write(gpu)}</div>`);
  const uses = runsOf(node).filter((run) => run.use !== null);
  return html`
    <tr>
      <th scope="row">${node.name}${isClosed(node) && html`<div class="problem">${closedText(node)}</div>`}</th>
      <td>${(node.path ?? []).filter(Boolean).join(' / ')}</td>
      <td>${each((gpu) => `${number(gpu.all ?? 0)} ${shortResource(gpu.name)}`)}</td>
      <td class="number">${each((gpu) => number(gpu.free ?? 0))}</td>
      <td>${uses.map((run) => html`<${Use} run=${run} />`)}</td>
    </tr>
  `;
}

function Use({ run: { n, use } }) {
  const state = stateOf(use);
  const openGang = (event) => {
    open.value = { gang: use.gang, from: event.currentTarget };
  };
  return html`
    <div class="node-use">
      <span class="number">${number(n)}</span>
      ${use.queue && html`<${QueueMark} name=${use.queue} />`}
      ${use.gang ? html`<button type="button" class="link" onClick=${openGang}>${use.gang}</button>` : 'other'}
      ${state !== 'used' && html`<span class="muted">${state}</span>`}
    </div>
  `;
}
