// What the tables of the page share.
import { html } from './html.js';

export function TableHead({ columns }) {
  return html`
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col">${column}</th>`)}
      </tr>
    </thead>
  `;
}
