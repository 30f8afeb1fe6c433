// The map of GPUs as a part of the page: the canvas, its buttons and what it tells about a place.
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { MapTip, tipText } from './map_tip.js';
import { MapView, zoomStep } from './map_view.js';

const keysText =
  'Map of GPUs. Arrow keys move, plus and minus zoom, 0 shows all, Enter opens. ' +
  'The button Table shows the same as a table.';

export function MapCanvas() {
  const canvas = useRef(null);
  const view = useRef(null);
  const [point, setPoint] = useState(null);
  useEffect(() => {
    const own = new MapView(canvas.current, setPoint);
    view.current = own;
    const wheel = (event) => own.onWheel(event); // Preact's listeners are passive for wheels in some browsers
    canvas.current.addEventListener('wheel', wheel, { passive: false });
    return () => own.close();
  }, []);
  return html`
    <div class="map-stage">
      <canvas
        ref=${canvas}
        tabindex="0"
        role="application"
        aria-roledescription="map"
        aria-label=${keysText}
        onPointerDown=${() => view.current.onPointerDown()}
        onPointerMove=${(event) => view.current.onPointerMove(event)}
        onPointerLeave=${() => view.current.leave()}
        onClick=${(event) => view.current.onClick(event)}
        onKeyDown=${(event) => view.current.onKey(event)}
        onBlur=${() => view.current.leave()}
      ></canvas>
      <div class="map-buttons" role="group" aria-label="Zoom">
        <${MapButton} label="Zoom in" shortcut="+" sign="+" onClick=${() => view.current.zoom(zoomStep)} />
        <${MapButton} label="Zoom out" shortcut="-" sign="−" onClick=${() => view.current.zoom(1 / zoomStep)} />
        <${MapButton} label="Show all" shortcut="0" sign="⤢" onClick=${() => view.current.fit()} />
      </div>
      <div class="hidden-text" aria-live="polite">${point?.byKeys ? tipText(point) : ''}</div>
      ${point && html`<${MapTip} point=${point} />`}
    </div>
  `;
}

function MapButton({ label, shortcut, sign, onClick }) {
  return html`
    <button type="button" title=${`${label} (${shortcut})`} aria-label=${label} onClick=${onClick}>${sign}</button>
  `;
}
