// htm bound to Preact: html`<p>${text}</p>`. Whatever is put in is text or an attribute, never markup.
import { h } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
