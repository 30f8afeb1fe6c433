// The middle of the page: the map or its twin, the table, and what the looks of a cell mean.
import { GangTable } from './gang_table.js';
import { html } from './html.js';
import { MapCanvas } from './map.js';
import { NodeTable } from './node_table.js';
import { cluster, nodes, sees, viewAt, whyEmpty } from './store.js';
import { byNvlink, mapAsTable } from './view.js';

export function MapPanel() {
  if (viewAt.value > 0 && sees.value.nodes !== true) return html`<${GangPanel} />`;
  const table = mapAsTable.value;
  const toggle = () => {
    mapAsTable.value = !table;
  };
  const levels = (cluster.value.levels ?? []).map((label) => label.slice(label.lastIndexOf('/') + 1));
  return html`
    <section class="panel map" aria-labelledby="map-title">
      <div class="panel-head">
        <h2 id="map-title">Map</h2>
        <span class="muted">${orderText(levels)}</span>
        <${Legend} />
        <button type="button" class="quiet" aria-pressed=${table} onClick=${toggle}>Table</button>
        ${!table && html`<${NvlinkSwitch} />`}
      </div>
      ${nodes.value.length === 0 && html`<p class="empty">${whyEmpty('There is no node.')}</p>`}
      ${nodes.value.length > 0 && (table ? html`<${NodeTable} />` : html`<${MapCanvas} />`)}
    </section>
  `;
}

function orderText(levels) {
  if (byNvlink.value && !mapAsTable.value) return 'by NVLink domain';
  return levels.length > 0 ? `by ${levels.join(', ')}` : '';
}

// Where no node says of which domain it is there is nothing to switch to.
function NvlinkSwitch() {
  const pressed = byNvlink.value;
  if (!pressed && !nodes.value.some((node) => node.nvlink)) return null;
  const toggle = () => {
    byNvlink.value = !pressed;
  };
  return html`<button type="button" class="quiet by-nvlink" aria-pressed=${pressed} onClick=${toggle}>NVLink</button>`;
}

function GangPanel() {
  return html`
    <section class="panel map" aria-labelledby="map-title">
      <div class="panel-head">
        <h2 id="map-title">Gangs</h2>
        <span class="muted">Nodes are not shown to you.</span>
      </div>
      <${GangTable} />
    </section>
  `;
}

function Legend() {
  return html`
    <ul class="legend" aria-label="What the cells of the map mean">
      <li><span class="cell free"></span>free</li>
      <li title="Colour and letter are those of the Queue"><span class="cell used">Q</span>used</li>
      <li title="Room that is kept for a gang until it starts"><span class="cell held"></span>held</li>
      <li title="Pods that are being deleted"><span class="cell leaving"></span>leaving</li>
      <li title="Nothing new starts on the node: point at it to see why"><span class="cell closed">✕</span>closed</li>
      <li title="Pods of no gang, or of gangs that are not shown to you"><span class="cell other"></span>other</li>
    </ul>
  `;
}
