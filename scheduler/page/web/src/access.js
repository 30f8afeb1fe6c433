// What to do when the server does not let the reader in: give a token, or name a namespace.
import { html } from './html.js';
import { chooseNamespace, giveToken, link, namespace } from './stream.js';

export function Access() {
  const { state, why } = link.value;
  if (state !== 'needs-token' && state !== 'refused') return null;
  const refused = state === 'refused';
  return html`
    <section class="access" aria-labelledby="access-title">
      <h2 id="access-title">${refused ? 'You may not see this' : 'A token is needed'}</h2>
      <p role="alert">${why}</p>
      ${refused && html`<${NamespaceForm} />`}
      <${Field}
        name="token"
        label=${refused ? 'Or use another token' : 'Token of a Kubernetes account'}
        type="password"
        button="Use"
        onGive=${giveToken}
      />
      <p class="muted">
        The token is kept in this page's memory only. Get one with <code>kubectl create token NAME</code>.
      </p>
    </section>
  `;
}

function NamespaceForm() {
  return html`
    <${Field}
      name="namespace"
      label="Show one namespace only"
      type="text"
      value=${namespace.value}
      button="Show"
      onGive=${chooseNamespace}
    />
  `;
}

function Field({ name, label, type, value = '', button, onGive }) {
  const submit = (event) => {
    event.preventDefault();
    const field = event.currentTarget.elements[name];
    onGive(field.value.trim());
  };
  return html`
    <form onSubmit=${submit}>
      <label for=${`access-${name}`}>${label}</label>
      <div class="access-field">
        <input
          id=${`access-${name}`}
          name=${name}
          type=${type}
          defaultValue=${value}
          autocomplete="off"
          spellcheck="false"
        />
        <button type="submit">${button}</button>
      </div>
    </form>
  `;
}
