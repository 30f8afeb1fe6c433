// Finds gangs, nodes and Queues by a part of their name. Knows no DOM.
import { closedText } from './cells.js';
import { compare } from './tree.js';

const most = 12;

// Hits {kind, name, detail}, the best first: names that begin with the text before names that have it inside.
export function searchRows(text, { gang, node, queue }) {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const hits = [];
  const consider = (kind, name, label, detail) => {
    const at = label.toLowerCase().indexOf(wanted);
    if (at < 0 && !name.toLowerCase().includes(wanted)) return;
    hits.push({ kind, name, label, detail, rank: at === 0 ? 0 : at > 0 ? 1 : 2 });
  };
  for (const name of queue.keys()) consider('queue', name, name, 'Queue');
  for (const [name, row] of gang) consider('gang', name, row.name, row.ns);
  for (const [name, row] of node) consider('node', name, name, (row.path ?? []).filter(Boolean).join(' / '));
  hits.sort((a, b) => a.rank - b.rank || compare(a.label, b.label));
  return hits.slice(0, most);
}

// What a node's row in the table says, in small letters.
export function nodeText(node) {
  const uses = (node.gpus ?? []).flatMap((gpu) => gpu.uses ?? []);
  const users = uses.map((use) => `${use.gang ?? 'other'} ${use.queue ?? ''}`);
  return [node.name, ...(node.path ?? []), closedText(node), ...users].join(' ').toLowerCase();
}
