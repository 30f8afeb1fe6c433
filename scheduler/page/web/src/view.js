// What the reader does with the page: theme, what is lit, what is open. Nothing here came from the server.
import { computed, signal } from '@preact/signals';

const stored = 'maniple-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const systemTheme = signal(systemDark.matches ? 'dark' : 'light');
systemDark.addEventListener('change', () => {
  systemTheme.value = systemDark.matches ? 'dark' : 'light';
});

export const themeChoice = signal(readChoice()); // 'system', 'light' or 'dark'
export const theme = computed(() => (themeChoice.value === 'system' ? systemTheme.value : themeChoice.value));

// Here and below: a browser may refuse storage, and then the choice lasts as long as the page.
function readChoice() {
  try {
    const choice = localStorage.getItem(stored);
    return choice === 'light' || choice === 'dark' ? choice : 'system';
  } catch {
    return 'system';
  }
}

export function chooseTheme(choice) {
  themeChoice.value = choice;
  try {
    localStorage.setItem(stored, choice);
  } catch {
    // As said above.
  }
}

// Under the pointer or the focus; null or {queue} or {gang: "NS/NAME"}.
export const hovered = signal(null);
// The Queue that was clicked: it stays lit, and the list shows its gangs only. '' = none.
export const pinnedQueue = signal('');
// What the drawer shows: null, {gang: "NS/NAME"} or {title, gangs: [key…]}.
export const open = signal(null);
// {name} of a node to be shown; the map goes there, and sets it to null. A new object each time: twice is twice.
export const soughtNode = signal(null);
export const mapAsTable = signal(false);
// Nodes stand on the map in their NVLink domains, not by the Topology.
export const byNvlink = signal(false);
export function placeOf(row) {
  return byNvlink.value ? [row.nvlink ?? ''] : (row.path ?? []);
}

export const lit = computed(() => {
  if (hovered.value !== null) return hovered.value;
  if (open.value?.gang) return { gang: open.value.gang };
  return pinnedQueue.value === '' ? null : { queue: pinnedQueue.value };
});

// Handlers that light `what` while the pointer or the focus is on an element.
export function lights(what) {
  const on = () => {
    hovered.value = what;
  };
  const off = () => {
    hovered.value = null;
  };
  return { onMouseEnter: on, onMouseLeave: off, onFocusIn: on, onFocusOut: off };
}

export function calmMotion() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
