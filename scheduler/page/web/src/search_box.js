// The search field of the header: `/` goes to it, arrows choose, Enter opens.
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { searchRows } from './search.js';
import { tables } from './store.js';
import { mapAsTable, open, pinnedQueue, soughtNode } from './view.js';

export function SearchBox() {
  const field = useRef(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [active, setActive] = useState(false);
  useEffect(() => {
    const onKey = (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current.select();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const hits = active ? searchRows(text, tables) : [];
  const missed = active && text.trim() !== '' && hits.length === 0;
  const index = Math.min(chosen, hits.length - 1);
  const take = (hit) => {
    setText('');
    setActive(false);
    go(hit, field.current);
  };
  const onKey = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) setChosen((index + step + hits.length) % hits.length);
    else if (event.key === 'Enter' && hits.length > 0) take(hits[index]);
    else if (event.key === 'Escape' && text !== '') setText('');
    else return;
    event.preventDefault();
  };
  return html`
    <div class="search" role="search">
      <input
        ref=${field}
        type="search"
        role="combobox"
        placeholder="search gang, node, queue   /"
        aria-label="Search gangs, nodes and Queues"
        aria-expanded=${hits.length > 0}
        aria-controls="search-hits"
        aria-autocomplete="list"
        aria-activedescendant=${hits.length > 0 ? `hit-${index}` : undefined}
        autocomplete="off"
        spellcheck="false"
        value=${text}
        onInput=${(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown=${onKey}
        onFocus=${() => setActive(true)}
        onBlur=${() => setActive(false)}
      />
      <ul id="search-hits" class="hits" role="listbox" aria-label="Found" hidden=${hits.length === 0}>
        ${hits.map(
          (hit, at) => html`
            <li
              key=${`${hit.kind}/${hit.name}`}
              id=${`hit-${at}`}
              role="option"
              aria-selected=${at === index}
              onPointerDown=${(event) => {
                event.preventDefault();
                take(hit);
              }}
            >
              <span>${hit.label}</span>
              <span class="muted">${hit.detail}</span>
              <span class="hit-kind">${hit.kind}</span>
            </li>
          `,
        )}
      </ul>
      ${missed && html`<p class="hits no-hits" role="status">nothing found</p>`}
    </div>
  `;
}

function go(hit, from) {
  if (hit.kind === 'gang') open.value = { gang: hit.name, from };
  if (hit.kind === 'queue') pinnedQueue.value = hit.name;
  if (hit.kind !== 'node') return;
  mapAsTable.value = false;
  soughtNode.value = { name: hit.name };
}
