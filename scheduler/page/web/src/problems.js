// What this scheduler cannot get from the API server: all else on the page is older then.
import { html } from './html.js';
import { cluster } from './store.js';

export function Problems() {
  const problems = cluster.value.problems ?? [];
  if (problems.length === 0) return null;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return html`<p class="problems" role="alert" title=${problems.join('\n')}>
    <b>Trouble with the API server:</b> ${problems[0]}${more}
  </p>`;
}
