// What the page knows, in signals. The rows stay in plain maps; a signal per kind of row counts its changes, once per
// event however many rows it brings.
import { batch, computed, signal } from '@preact/signals';
import { totalsOf } from './cells.js';
import { marksOf } from './colour.js';
import { applyEvent, emptyTables } from './rows.js';
import { buildTree, compare } from './tree.js';

export const tables = emptyTables();
const versions = Object.fromEntries(Object.keys(tables).map((kind) => [kind, signal(0)]));

// When the view was made that the rows are of, by the server's clock; 0 = nothing came yet.
export const viewAt = signal(0);

// Names of the nodes that the last event changed. Read it in an effect that also reads nodeVersion.
export let changedNodes = new Set();
export const nodeVersion = versions.node;

export function takeEvent(event) {
  const changed = applyEvent(tables, event);
  changedNodes = changed.get('node') ?? new Set();
  batch(() => {
    for (const kind of changed.keys()) versions[kind].value += 1;
    viewAt.value = event.at ?? viewAt.value;
  });
}

function rows(kind) {
  versions[kind].value;
  return tables[kind];
}

export const cluster = computed(() => rows('cluster').get('') ?? {});
export const sees = computed(() => cluster.value.sees ?? {});
export const gangs = computed(() => [...rows('gang').values()]);
export const nodes = computed(() => [...rows('node').values()]);
export const tree = computed(() => buildTree(rows('queue'), rows('cohort')));
export const totals = computed(() => totalsOf(nodes.value));

// Why a panel has no rows: nothing came yet, or `otherwise`.
export function whyEmpty(otherwise) {
  return viewAt.value === 0 ? '' : otherwise;
}

export function gangRow(key) {
  return rows('gang').get(key);
}

export function nodeRow(name) {
  return rows('node').get(name);
}

export function gangKey(gang) {
  return `${gang.ns}/${gang.name}`;
}

export function waits(gang) {
  return gang.position > 0 || gang.phase === 'Waiting';
}

// By priority and waiting time; gangs without a place in it come last.
export const waiting = computed(() =>
  gangs.value
    .filter(waits)
    .sort((a, b) => (a.position || Infinity) - (b.position || Infinity) || compare(gangKey(a), gangKey(b))),
);

// A gang can name a Queue that has no row: the reader may not see Queues, or there is none of the name.
const queueNames = computed(() => {
  const inTree = tree.value.filter((entry) => entry.kind === 'queue').map((entry) => entry.name);
  const known = new Set(inTree);
  const others = new Set(gangs.value.map((gang) => gang.queue).filter((name) => name && !known.has(name)));
  return JSON.stringify(inTree.concat([...others].sort(compare)));
});
export const marks = computed(() => marksOf(JSON.parse(queueNames.value)));
