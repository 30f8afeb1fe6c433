// The drawer: one gang in full, or a list of gangs to choose from.
import { useEffect, useRef } from 'preact/hooks';
import { explanations, stories } from './answers.js';
import { now } from './clock.js';
import { asksText, membersText, number, plural } from './format.js';
import { html } from './html.js';
import { QueueMark } from './marks.js';
import { gangRow, nodeRow, nodeVersion } from './store.js';
import { Story } from './story.js';
import { TableHead } from './table.js';
import { Age, ClockTime, Relative } from './times.js';
import { open, soughtNode } from './view.js';

const capped = 200; // members; a gang of thousands is read with kubectl

export function Drawer() {
  const what = open.value;
  const box = useRef(null);
  const opener = useRef(null);
  const close = () => {
    open.value = null;
    if (opener.current?.isConnected) opener.current.focus();
  };
  useEffect(() => {
    if (what === null) return undefined;
    if (what.from) opener.current = what.from;
    box.current.focus();
    const onKey = (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented) close();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [what]);
  if (what === null) return null;
  return html`
    <div class="drawer" ref=${box} tabindex="-1" role="dialog" aria-labelledby="drawer-title">
      <button type="button" class="drawer-close" aria-label="Close" title="Close (Escape)" onClick=${close}>✕</button>
      ${what.gang === undefined ? html`<${List} ...${what} />` : html`<${Gang} key=${what.gang} name=${what.gang} />`}
    </div>
  `;
}

function List({ title, gangs }) {
  const go = (gang) => {
    open.value = { gang };
  };
  return html`
    <h2 id="drawer-title">${title}</h2>
    <ul class="drawer-list">
      ${gangs.map((key) => {
        const row = gangRow(key);
        return html`<li key=${key}>
          <${QueueMark} name=${row?.queue} />
          <button type="button" class="gang-name" onClick=${() => go(key)}>${key}</button>
          <span class="muted">${row && asksText(row)}</span>
        </li>`;
      })}
    </ul>
  `;
}

function Gang({ name }) {
  useEffect(() => {
    return now.subscribe(() => {
      explanations.want(name);
      stories.want(name);
    });
  }, [name]);
  const row = gangRow(name);
  const explanation = explanations.of(name);
  const full = explanation?.body;
  const [ns, own] = [name.slice(0, name.indexOf('/')), name.slice(name.indexOf('/') + 1)];
  const shown = row ?? {};
  const phase = row?.phase ?? full?.phase ?? 'gone';
  const message = row?.message ?? full?.message;
  return html`
    <h2 id="drawer-title">${own}</h2>
    <p class="drawer-sub">
      <span class="muted">${ns}</span>
      ${shown.queue && html`<span class="gang-queue"><${QueueMark} name=${shown.queue} />${shown.queue}</span>`}
      <span class="phase">${phase}${shown.reason && shown.reason !== phase ? ` · ${shown.reason}` : ''}</span>
    </p>
    ${message && html`<p class="drawer-message">${message}</p>`}
    ${row === undefined && full === undefined && html`<p class="muted">It has ended, or it is not shown to you.</p>`}
    ${full && html`<${Help} full=${full} />`}
    <${Facts} row=${shown} full=${full} />
    ${explanation?.error && html`<p class="problem">${explanation.error}</p>`}
    ${full?.quota && html`<${Quota} line=${full.quota} />`}
    ${full?.nodeReasons?.length > 0 && html`<${NodeReasons} reasons=${full.nodeReasons} />`}
    <${Story} decisions=${stories.of(name)?.body?.items ?? []} />
    ${full?.pods?.length > 0 && html`<${Members} pods=${full.pods} />`}
    <${Commands} ns=${ns} name=${own} single=${shown.single ?? full?.singleton} />
  `;
}

function Help({ full }) {
  const help = full.help ?? [];
  if (help.length === 0 && !full.helpNote) return null;
  return html`
    <h3>What would help</h3>
    <ul class="drawer-help">
      ${help.map((each) => html`<li>${each.sentence}</li>`)}
    </ul>
    ${full.helpNote && html`<p class="muted">${full.helpNote}</p>`}
    ${full.preemption && html`<p class="muted">${full.preemption}</p>`}
  `;
}

function Facts({ row, full }) {
  const facts = [];
  const add = (name, value) => facts.push([name, value]);
  const stage = row.k === undefined ? full?.stage : row.stage;
  if (stage) add('stage', stage);
  if (row.asks) add('asks for', asksText(row));
  if (row.members) add('members', membersText(row));
  if (row.position) {
    const own = row.queuePosition ? `${number(row.queuePosition)} in its Queue, ` : '';
    add('position', `${own}${number(row.position)} of all by priority and waiting time`);
  }
  if (row.created) add('created', html`<${Age} at=${row.created} /> ago, <${ClockTime} at=${row.created} />`);
  if (row.start?.at) add('planned start', html`<${Moment} time=${row.start} />${slip(row.start)}`);
  if (row.ends?.at) add('ends', html`<${Moment} time=${row.ends} />`);
  add('priority', number(row.priority ?? full?.priority ?? 0));
  if (row.source?.kind) add('declared by', `${row.source.kind} ${row.source.name}`);
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function Moment({ time: { at, estimated } }) {
  return html`${estimated ? 'about ' : ''}<${ClockTime} at=${at} />, <${Relative} at=${at} />`;
}

function slip({ at, first }) {
  return first && first !== at ? html`, first planned for <${ClockTime} at=${first} />` : '';
}

function Quota({ line }) {
  const others = (line.borrowers ?? []).map((each) => `${each.queue} ${each.amount}`);
  return html`
    <h3>Quota</h3>
    <p>
      Needs <b>${line.needs}</b> ${line.name}${line.flavor && ` of flavor ${line.flavor}`} from Queue ${line.queue}.
      Available: <b>${line.available}</b>${line.cohort && `, of which ${line.borrowable} from cohort ${line.cohort}`}.
      Used: ${line.used} of ${line.nominal}. At most: ${line.most}.
    </p>
    ${others.length > 0 && html`<p>Others use: ${others.join(', ')}.</p>`}
  `;
}

function NodeReasons({ reasons }) {
  return html`
    <h3>Why not these nodes</h3>
    <table class="plain">
      <tbody>
        ${reasons.map(
          ({ nodes, text }) => html`
            <tr>
              <td class="number">${number(Number(nodes))}</td>
              <td>${text}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

function Members({ pods }) {
  nodeVersion.value; // the paths are of nodes
  const placed = new Set(pods.map((pod) => pod.node).filter(Boolean));
  const on = placed.size > 0 ? ` on ${plural(placed.size, 'node')}` : '';
  return html`
    <h3>Members <span class="count">${number(pods.length)}${on}</span></h3>
    <table class="plain members">
      <${TableHead} columns=${['pod', 'node', 'where', 'state']} />
      <tbody>
        ${pods.slice(0, capped).map(
          (pod) => html`
            <tr key=${pod.pod}>
              <td>${pod.pod}</td>
              <td>${pod.node ? html`<${NodeLink} name=${pod.node} />` : '–'}</td>
              <td class="muted">${(nodeRow(pod.node)?.path ?? []).filter(Boolean).join(' / ')}</td>
              <td>${pod.state}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
    ${pods.length > capped && html`<p class="muted">The first ${capped} of ${number(pods.length)} are shown.</p>`}
  `;
}

function NodeLink({ name }) {
  const show = () => {
    soughtNode.value = { name };
  };
  return html`<button type="button" class="link" title="Show it on the map" onClick=${show}>${name}</button>`;
}

function Commands({ ns, name, single }) {
  const kind = single ? 'pod' : 'podgroups.scheduling.maniple.dev';
  return html`
    <h3>The same on the command line</h3>
    <${Command} text=${`maniple explain ${name} -n ${ns}`} />
    <${Command} text=${`maniple log ${name} -n ${ns}`} />
    <${Command} text=${`kubectl get ${kind} ${name} -n ${ns}`} />
  `;
}

function Command({ text }) {
  const code = useRef(null);
  // Without the clipboard (a page over plain HTTP has none) the text is selected, ready for the reader's own copy.
  const copy = async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
    } catch {
      getSelection().selectAllChildren(code.current);
      button.textContent = 'selected';
    }
  };
  return html`
    <div class="command">
      <code ref=${code}>${text}</code>
      <button type="button" aria-label=${`Copy: ${text}`} onClick=${copy}>copy</button>
    </div>
  `;
}
