// The line on top: who answers, how fresh it is, the sums, search, theme.
import { computed } from '@preact/signals';
import { now } from './clock.js';
import { duration, fullTime, number, plural } from './format.js';
import { html } from './html.js';
import { SearchBox } from './search_box.js';
import { cluster, totals, viewAt } from './store.js';
import { chooseNamespace, link, namespace } from './stream.js';
import { chooseTheme, themeChoice } from './view.js';

const staleFrom = 5; // seconds

export function Header() {
  const { leading, version } = cluster.value;
  return html`
    <header>
      <h1 title=${version ? `version ${version}` : undefined}>maniple</h1>
      ${
        viewAt.value > 0 &&
        html`<span class="role" title=${leading ? 'This scheduler decides.' : 'This one does not decide.'}>
        <span aria-hidden="true">${leading ? '●' : '○'}</span> ${leading ? 'leading' : 'standby'}
      </span>`
      }
      <${Freshness} />
      <${Totals} />
      <${NamespaceField} />
      <${SearchBox} />
      <${ThemeSwitch} />
    </header>
  `;
}

// {kind, text}: 'live', 'stale' or 'lost'. The kind changes seldom, so it is what is read aloud.
const freshness = computed(() => {
  const { state, until } = link.value;
  const age = now.value - viewAt.value;
  const old = viewAt.value > 0 && age >= staleFrom ? `stale for ${duration(age)}` : '';
  if (state === 'live') return old === '' ? { kind: 'live', text: 'live' } : { kind: 'stale', text: old };
  if (state === 'needs-token' || state === 'refused') return { kind: 'lost', text: 'not connected' };
  const wait = state === 'pausing' ? Math.ceil((until - Date.now()) / 1000) : 0;
  const again =
    viewAt.value === 0 && state === 'connecting'
      ? 'connecting'
      : wait > 1
        ? `reconnecting in ${wait} s`
        : 'reconnecting';
  return { kind: 'lost', text: old === '' ? again : `${again} · ${old}` };
});
const freshnessKind = computed(() => freshness.value.kind);
const signs = { live: '✓', stale: '◔', lost: '↻' };

function Freshness() {
  const { kind, text } = freshness.value;
  const title = [link.value.why, viewAt.value > 0 ? `as of ${fullTime(viewAt.value)}` : ''].filter(Boolean).join('; ');
  return html`
    <span class=${`freshness ${kind}`} title=${title}><span aria-hidden="true">${signs[kind]}</span> ${text}</span>
    <${Spoken} />
  `;
}

function Spoken() {
  const words = { live: 'live', stale: 'the data is stale', lost: 'not connected' };
  return html`<span class="hidden-text" role="status">${words[freshnessKind.value]}</span>`;
}

function Totals() {
  const { gpus, slices } = totals.value;
  if (gpus.all + slices.all === 0) return html`<span class="totals"></span>`;
  return html`
    <span class="totals">
      ${gpus.all > 0 && html`<b>${number(gpus.used)}</b> of ${plural(gpus.all, 'GPU')} used${rest(gpus)}`}
      ${gpus.all > 0 && slices.all > 0 && ' · '}
      ${slices.all > 0 && html`<b>${number(slices.used)}</b> of ${plural(slices.all, 'slice')}${rest(slices)}`}
    </span>
  `;
}

function rest({ held, closed }) {
  const parts = [['held', held], ...Object.entries(closed).sort()];
  return parts.map(([word, count]) => (count > 0 ? ` · ${number(count)} ${word}` : '')).join('');
}

function NamespaceField() {
  const choose = (event) => chooseNamespace(event.currentTarget.value.trim());
  return html`
    <input
      class="namespace"
      aria-label="Namespace of the gangs that are shown; empty: all"
      placeholder="all namespaces"
      autocomplete="off"
      spellcheck="false"
      value=${namespace.value}
      onChange=${choose}
    />
  `;
}

const nextTheme = { system: 'light', light: 'dark', dark: 'system' };
const themeSigns = { system: '◐', light: '☀', dark: '☾' };

function ThemeSwitch() {
  const choice = themeChoice.value;
  const label = `Theme: ${choice}. Change to ${nextTheme[choice]}.`;
  const change = () => chooseTheme(nextTheme[choice]);
  return html`
    <button type="button" class="quiet" title=${label} aria-label=${label} onClick=${change}>
      ${themeSigns[choice]}
    </button>
  `;
}
