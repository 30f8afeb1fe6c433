// What the map tells about the place under the pointer or the cursor.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { closedText, runsOf, stateOf } from './cells.js';
import { number, plural, sevenths, shortResource } from './format.js';
import { html } from './html.js';
import { QueueMark } from './marks.js';
import { cluster, nodeVersion, tables } from './store.js';

const most = 9; // lines; more would cover the map

export function MapTip({ point }) {
  nodeVersion.value; // what is under a pointer that rests can change
  const tip = useRef(null);
  useLayoutEffect(() => {
    const own = tip.current;
    const room = own.parentElement.getBoundingClientRect();
    const left = point.x + 16 + own.offsetWidth > room.width ? point.x - 12 - own.offsetWidth : point.x + 16;
    const top = Math.min(point.y + 16, room.height - own.offsetHeight - 4);
    own.style.transform = `translate(${Math.max(4, Math.round(left))}px, ${Math.max(4, Math.round(top))}px)`;
  });
  const { title, place, lines } = describe(point);
  return html`
    <div class="tip" ref=${tip} aria-hidden="true">
      <div class="tip-title">${title}</div>
      ${place && html`<div class="muted">${place}</div>`}
      ${lines.slice(0, most).map(
        (line) => html`
          <div class=${line.here ? 'tip-line here' : 'tip-line'}>
            <span class="tip-number">${line.amount}</span>
            ${line.queue && html`<${QueueMark} name=${line.queue} />`}
            <span>${line.text}</span>
          </div>
        `,
      )}
      ${lines.length > most && html`<div class="muted">and ${lines.length - most} more</div>`}
    </div>
  `;
}

export function tipText(point) {
  const { title, place, lines } = describe(point);
  return [title, place, ...lines.map((line) => `${line.amount} ${line.text}`)].filter(Boolean).join(', ');
}

function describe(point) {
  return point.node === undefined ? describeRack(point.rack) : describeNode(point);
}

function describeNode({ node, run }) {
  const row = tables.node.get(node);
  if (row === undefined) return { title: node, place: 'gone', lines: [] };
  const lines = runsOf(row).map((each, index) => ({
    amount: number(each.n),
    queue: each.use?.queue,
    text: useText(each),
    here: index === run,
  }));
  return { title: node, place: placeText(row), lines };
}

function placeText(row) {
  const levels = cluster.value.levels ?? [];
  const path = (row.path ?? []).map((value, index) => `${lastPart(levels[index] ?? '')} ${value || '(none)'}`.trim());
  if (row.nvlink) path.push(`NVLink ${row.nvlink}`);
  return [path.join(' · '), closedText(row)].filter(Boolean).join(' — ');
}

function lastPart(label) {
  return label.slice(label.lastIndexOf('/') + 1);
}

function useText({ resource, use }) {
  const kind = sevenths(resource) > 0 ? `${shortResource(resource)} ` : '';
  const state = stateOf(use);
  if (state === 'free') return `${kind}free`;
  const whose = use.gang ?? 'other';
  const of = use.queue === undefined ? '' : ` · ${use.queue}`;
  if (state === 'held') return `${kind}held for ${whose}${of}`;
  return `${kind}${whose}${of}${state === 'leaving' ? ' · leaving' : ''}`;
}

function describeRack(rack) {
  const sums = new Map();
  const closed = {};
  let [all, free] = [0, 0];
  for (const name of rack.nodes) {
    const row = tables.node.get(name) ?? {};
    const word = closedText(row);
    for (const { use, n, width } of runsOf(row)) {
      all += n * width;
      if (use === null && word !== '') closed[word] = (closed[word] ?? 0) + n * width;
      else if (use === null) free += n * width;
      else {
        const text = `${use.queue ?? 'other'}${use.held ? ' · held' : ''}`;
        const sum = sums.get(text) ?? { queue: use.queue, text, amount: 0 };
        sum.amount += n * width;
        sums.set(text, sum);
      }
    }
  }
  const lines = [...sums.values()].sort((a, b) => b.amount - a.amount);
  for (const [text, amount] of Object.entries(closed).sort()) lines.push({ text, amount });
  lines.push({ text: 'free', amount: free });
  return {
    title: [rack.block, rack.title].filter(Boolean).join(' / '),
    place: `${plural(rack.nodes.length, 'node')}, ${plural(all, 'GPU')}`,
    lines: lines.map((line) => ({ ...line, amount: number(line.amount) })),
  };
}
