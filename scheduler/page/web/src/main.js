// The operator's page: what runs where, who waits and why, who has whose GPUs. Read only.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { Access } from './access.js';
import { Drawer } from './gang.js';
import { Header } from './header.js';
import { html } from './html.js';
import { MapPanel } from './map_panel.js';
import { Problems } from './problems.js';
import { Queues } from './queues.js';
import { connect } from './stream.js';
import { Timeline } from './timeline.js';
import { theme } from './view.js';
import { Waiting } from './waiting.js';

function Page() {
  return html`
    <${Header} />
    <${Problems} />
    <main>
      <${Access} />
      <${Queues} />
      <${MapPanel} />
      <${Waiting} />
      <${Timeline} />
    </main>
    <${Drawer} />
  `;
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
render(html`<${Page} />`, document.getElementById('page'));
connect();
