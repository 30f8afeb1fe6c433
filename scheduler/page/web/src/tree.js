// The tree of cohorts and Queues, as a list from top to bottom. Knows no DOM.

// Entries {kind: 'cohort' | 'queue', name, depth, row}, each below its parent; siblings by name, Queues before
// cohorts. A parent that has no row of its own is made up. A circle of cohorts is cut above its first name.
export function buildTree(queues, cohorts) {
  const parents = new Map();
  for (const [name, row] of cohorts) parents.set(name, row.parent ?? '');
  const named = [...queues.values()].map((row) => row.cohort ?? '').concat([...parents.values()]);
  for (const name of named) if (name !== '' && !parents.has(name)) parents.set(name, '');
  for (const name of parents.keys()) if (isInCircle(name, parents)) parents.set(name, '');

  const children = new Map([['', []]]);
  for (const name of parents.keys()) children.set(name, []);
  const entries = [...queues].map(([name, row]) => ({ kind: 'queue', name, row, parent: row.cohort ?? '' }));
  for (const [name, parent] of parents) {
    entries.push({ kind: 'cohort', name, row: cohorts.get(name) ?? { name }, parent });
  }
  for (const entry of entries) children.get(entry.parent).push(entry);

  const list = [];
  const walk = (parent, depth) => {
    const below = children.get(parent);
    below.sort((a, b) => (a.kind === b.kind ? compare(a.name, b.name) : a.kind === 'queue' ? -1 : 1));
    for (const entry of below) {
      list.push({ ...entry, depth });
      if (entry.kind === 'cohort') walk(entry.name, depth + 1);
    }
  };
  walk('', 0);
  return list;
}

// The Queues of the row's Cohort that lend of what the line is about.
export function lendersOf(entries, row, line) {
  const lends = (other) => other.name === line.name && (other.flavor ?? '') === (line.flavor ?? '') && other.lent > 0;
  return entries
    .filter((entry) => entry.kind === 'queue' && entry.row !== row && entry.row.cohort === row.cohort)
    .filter((entry) => (entry.row.usage ?? []).some(lends))
    .map((entry) => entry.name);
}

function isInCircle(name, parents) {
  const seen = new Set();
  for (let at = parents.get(name); at; at = parents.get(at)) {
    if (at === name) return true;
    if (seen.has(at)) return false; // of another circle, which its own members break
    seen.add(at);
  }
  return false;
}

// Numbers by value, so that gpu-9 comes before gpu-10; the same order whatever the browser's language.
const collator = new Intl.Collator('en', { numeric: true });
export function compare(a, b) {
  return collator.compare(a, b);
}
