// What a point of the map is on. A spot is {rack}, or {rack, node, run} where cells are drawn: `node` is a name, `run`
// the index of one of its runs of equal cells, -1 beside them. Knows no DOM.
import { runsOf } from './cells.js';
import { nearest, nodeBox, nodeIndexAt, rackAt } from './layout.js';

// `rowOf` gives the row of a node by its name.
function runsAt(rowOf, node) {
  return runsOf(rowOf(node) ?? {});
}

// By how much the cells of a node are narrower than usual, so that they fit into its box.
export function squeezeOf(runs, width) {
  const last = runs[runs.length - 1];
  return last === undefined ? 1 : Math.min(1, width / (last.x + last.n * last.width));
}

// The spot at a point of the map; null between racks.
export function spotAt(map, rowOf, x, y, withCells) {
  const rack = rackAt(map, x, y);
  if (rack === null) return null;
  const index = withCells ? nodeIndexAt(rack, x, y) : -1;
  if (index < 0) return { rack };
  const node = rack.nodes[index];
  const runs = runsAt(rowOf, node);
  const box = nodeBox({ rack, index });
  const along = (x - box.x) / squeezeOf(runs, box.w);
  const run = runs.findIndex((each) => along >= each.x && along < each.x + each.n * each.width);
  return { rack, node, run };
}

// Its rectangle on the map; null when what it was on is gone.
export function boxOfSpot(map, rowOf, spot) {
  if (spot.node === undefined) return map.racks.includes(spot.rack) ? spot.rack : null;
  const place = map.places.get(spot.node);
  if (place === undefined) return null;
  const box = nodeBox(place);
  const runs = runsAt(rowOf, spot.node);
  const run = runs[spot.run];
  if (run === undefined) return box;
  const squeeze = squeezeOf(runs, box.w);
  return { x: box.x + run.x * squeeze, y: box.y, w: run.n * run.width * squeeze, h: box.h };
}

export function gangAt(rowOf, spot) {
  return runsAt(rowOf, spot.node)[spot.run]?.use?.gang;
}

// Where an arrow key leads: from run to run of a node, then from node to node; from rack to rack without cells.
export function nextSpot(map, rowOf, spot, [dx, dy], withCells) {
  if (!withCells) {
    const next = neighbour(map, rowOf, map.racks, spot, dx, dy);
    return next < 0 ? spot : { rack: map.racks[next] };
  }
  const run = (spot?.run ?? 0) + dx;
  if (spot?.node !== undefined && dx !== 0 && run >= 0 && run < runsAt(rowOf, spot.node).length)
    return { ...spot, run };
  const names = [...map.places.keys()];
  const next = neighbour(
    map,
    rowOf,
    names.map((name) => nodeBox(map.places.get(name))),
    spot,
    dx,
    dy,
  );
  if (next < 0) return spot;
  const node = names[next];
  return { rack: map.places.get(node).rack, node, run: dx < 0 ? runsAt(rowOf, node).length - 1 : 0 };
}

function neighbour(map, rowOf, boxes, spot, dx, dy) {
  const from = spot === null ? null : boxOfSpot(map, rowOf, spot);
  return from === null ? Math.min(0, boxes.length - 1) : nearest(boxes, from, dx, dy);
}
