// Which part of the map is on the screen: `scale` pixels per unit, (x, y) the map's point at the canvas's corner.
// Pure: every function gives a new camera.

const most = 52; // pixels per cell

export function fitCamera(map, size) {
  const scale = Math.min(map.scale, 26);
  const left = (size.width - map.width * scale) / 2;
  const top = Math.min((size.height - map.height * scale) / 2, 24);
  return { scale, x: -left / scale, y: -top / scale };
}

// Zooms by `factor` so that the point under (px, py), in pixels, stays there.
export function zoomAt(camera, factor, px, py, map, size) {
  const least = Math.min(map.scale, most) * 0.8;
  const scale = Math.min(most, Math.max(least, camera.scale * factor));
  const moved = { scale, x: camera.x + px / camera.scale - px / scale, y: camera.y + py / camera.scale - py / scale };
  return keepInSight(moved, map, size);
}

// Shows `box` as large as fits, but not larger than is useful.
export function zoomTo(box, map, size) {
  const scale = Math.min(30, 0.9 * Math.min(size.width / box.w, size.height / box.h));
  const x = box.x + box.w / 2 - size.width / scale / 2;
  const y = box.y + box.h / 2 - size.height / scale / 2;
  return keepInSight({ scale, x, y }, map, size);
}

export function panBy(camera, px, py, map, size) {
  return keepInSight({ ...camera, x: camera.x + px / camera.scale, y: camera.y + py / camera.scale }, map, size);
}

// Moves as little as needed for `box` to be on the screen.
export function reveal(camera, box, map, size) {
  const shift = (at, length, from, room) => {
    if (at < from) return at - from;
    return at + length > from + room ? at + length - from - room : 0;
  };
  const margin = 1;
  const x = shift(box.x - margin, box.w + 2 * margin, camera.x, size.width / camera.scale);
  const y = shift(box.y - margin, box.h + 2 * margin, camera.y, size.height / camera.scale);
  return keepInSight({ ...camera, x: camera.x + x, y: camera.y + y }, map, size);
}

export function between(a, b, part) {
  const mix = (from, to) => from + (to - from) * part;
  return { scale: a.scale * (b.scale / a.scale) ** part, x: mix(a.x, b.x), y: mix(a.y, b.y) };
}

// At least a quarter of the screen keeps showing the map.
function keepInSight(camera, map, size) {
  const clamp = (at, length, room) => {
    const margin = room * 0.25;
    return Math.min(Math.max(at, margin - room), length - margin);
  };
  return {
    scale: camera.scale,
    x: clamp(camera.x, map.width, size.width / camera.scale),
    y: clamp(camera.y, map.height, size.height / camera.scale),
  };
}
