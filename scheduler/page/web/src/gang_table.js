// All gangs as a table: what takes the map's place for a reader who may not see nodes.
import { asksText, number } from './format.js';
import { html } from './html.js';
import { QueueMark } from './marks.js';
import { gangKey, gangs } from './store.js';
import { TableHead } from './table.js';
import { Age, Relative } from './times.js';
import { compare } from './tree.js';
import { open } from './view.js';

const capped = 200;

export function GangTable() {
  const all = [...gangs.value].sort((a, b) => compare(gangKey(a), gangKey(b)));
  return html`
    <div class="panel-body" tabindex="0" role="region" aria-label="Table of gangs">
      <table class="nodes">
        <${TableHead} columns=${['gang', 'queue', 'asks for', 'phase', 'age', 'ends']} />
        <tbody>${all.slice(0, capped).map((gang) => html`<${Row} key=${gangKey(gang)} gang=${gang} />`)}</tbody>
      </table>
      ${
        all.length > capped &&
        html`<p class="empty">The first ${capped} of ${number(all.length)} are shown. Search finds the others.</p>`
      }
    </div>
  `;
}

function Row({ gang }) {
  const openIt = (event) => {
    open.value = { gang: gangKey(gang), from: event.currentTarget };
  };
  return html`
    <tr>
      <th scope="row"><button type="button" class="link" onClick=${openIt}>${gangKey(gang)}</button></th>
      <td>${gang.queue && html`<span class="gang-queue"><${QueueMark} name=${gang.queue} />${gang.queue}</span>`}</td>
      <td>${asksText(gang)}</td>
      <td>${gang.phase}</td>
      <td>${gang.created && html`<${Age} at=${gang.created} />`}</td>
      <td>${gang.ends?.at && html`${gang.ends.estimated ? 'about ' : ''}<${Relative} at=${gang.ends.at} />`}</td>
    </tr>
  `;
}
