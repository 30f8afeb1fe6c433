// The rows that the stream sends, by kind and name, and what one event changes of them. Knows no DOM.

// Without a prototype: a key that begins with "constructor/" names no table.
export function emptyTables() {
  const kinds = ['cluster', 'queue', 'cohort', 'node', 'gang'];
  return Object.assign(Object.create(null), Object.fromEntries(kinds.map((kind) => [kind, new Map()])));
}

// "gang/team-a/train" is the gang "team-a/train".
function split(key) {
  const slash = key.indexOf('/');
  return slash < 0 ? [key, ''] : [key.slice(0, slash), key.slice(slash + 1)];
}

// Applies one event to `tables` and tells which names changed, by kind. A kind that this program does not know is
// left out: a newer server may send more than an older page can show.
export function applyEvent(tables, event) {
  const changed = new Map();
  const note = (kind, name) => {
    if (!changed.has(kind)) changed.set(kind, new Set());
    changed.get(kind).add(name);
  };
  if (event.all) {
    for (const [kind, table] of Object.entries(tables)) {
      for (const name of table.keys()) note(kind, name);
      table.clear();
    }
  }
  for (const key of event.gone ?? []) {
    const [kind, name] = split(key);
    if (tables[kind]?.delete(name)) note(kind, name);
  }
  for (const row of event.rows ?? []) {
    const [kind, name] = split(row.k);
    if (tables[kind] === undefined) continue;
    tables[kind].set(name, row);
    note(kind, name);
  }
  return changed;
}
