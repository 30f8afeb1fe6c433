// The next twelve hours: planned starts above, known ends below. What rests on a guess is dashed.
import { computed } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { now } from './clock.js';
import { clockTime, fullTime, number, relative } from './format.js';
import { html } from './html.js';
import { placeEvents, summary } from './lanes.js';
import { queueColour } from './marks.js';
import { gangKey, gangs, viewAt } from './store.js';
import { lights, open } from './view.js';

const hours = 12;
const lanes = 2; // of starts, and as many of ends

// To the minute, so that the labels do not creep.
const minute = computed(() => Math.floor(now.value / 60) * 60);

export function Timeline() {
  const area = useRef(null);
  const width = useWidth(area);
  const from = minute.value;
  const to = from + hours * 3600;
  const starts = gangs.value.filter((gang) => gang.start?.at).map((gang) => eventOf(gang, gang.start, 'starts'));
  const ends = gangs.value
    .filter((gang) => gang.ends?.at && !gang.start?.at)
    .map((gang) => eventOf(gang, gang.ends, 'ends'));
  const later = [...starts, ...ends].filter((event) => event.at >= to).length;
  const place = (events) =>
    placeEvents(
      events.filter((event) => event.at < to),
      { from, to, width, lanes, widthOf: (text) => 58 + 6.3 * text.length },
    );
  const empty = viewAt.value > 0 && starts.length + ends.length === later;
  return html`
    <section class="panel timeline" aria-labelledby="timeline-title">
      <div class="panel-head">
        <h2 id="timeline-title">Next ${hours} hours</h2>
        <span class="muted">${summary(starts, ends, later)}</span>
      </div>
      <div class="line-area" ref=${area}>
        ${hourMarks(from, to).map(
          ({ part, text }) => html`<div class="hour" style=${{ left: `${part * 100}%` }}><span>${text}</span></div>`,
        )}
        <div class="line-now" aria-hidden="true"></div>
        ${
          width > 0 &&
          html`
          <${Marks} label="Planned starts" marks=${place(starts)} firstLane=${0} />
          <${Marks} label="Ends" marks=${place(ends)} firstLane=${lanes} />
        `
        }
        ${empty && html`<p class="empty line-empty">No planned start and no known end.</p>`}
      </div>
    </section>
  `;
}

function eventOf(gang, { at, estimated, first }, verb) {
  return {
    key: gangKey(gang),
    gang,
    at,
    estimated,
    first,
    verb,
    text: `${shortened(gang.name)} ${verb} ${clockTime(at)}`,
  };
}

// Both ends of a long name tell it from others; the title has all of it.
function shortened(name) {
  return name.length > 26 ? `${name.slice(0, 15)}…${name.slice(-10)}` : name;
}

function useWidth(element) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

function hourMarks(from, to) {
  const marks = [];
  const first = new Date(from * 1000);
  first.setMinutes(0, 0, 0);
  for (let at = first.getTime() / 1000 + 3600; at < to - 1500; at += 3600) {
    marks.push({ part: (at - from) / (to - from), text: clockTime(at) });
  }
  return marks;
}

function Marks({ label, marks, firstLane }) {
  return html`
    <ol aria-label=${label}>
      ${marks.map((mark) => html`<${Mark} key=${mark.event.key} mark=${mark} lane=${firstLane + mark.lane} />`)}
    </ol>
  `;
}

function Mark({ mark, lane }) {
  const { event, x, right, more } = mark;
  const openIt = (click) => {
    const from = click.currentTarget;
    if (more.length === 0) open.value = { gang: event.key, from };
    else open.value = { title: listTitle(mark), gangs: [event, ...more].map((each) => each.key), from };
  };
  const place = right === null ? { left: `${x}px` } : { right: `${right}px` };
  const classes = `line-mark ${event.estimated ? 'estimated' : ''}`;
  return html`
    <li class=${classes} style=${{ '--lane': lane, '--hue': queueColour(event.gang.queue) }}>
      <span class="line-tick" style=${{ left: `${x}px` }}></span>
      <button type="button" style=${place} title=${titleOf(event)} onClick=${openIt} ...${lights({ gang: event.key })}>
        <span class="line-sign" aria-hidden="true">${event.verb === 'starts' ? '▸' : '■'}</span>
        ${event.text}${more.length > 0 && html`<span class="line-more"> +${number(more.length)}</span>`}
      </button>
    </li>
  `;
}

function listTitle({ event, more }) {
  return `${number(more.length + 1)} gangs, from ${clockTime(event.at)} to ${clockTime(more[more.length - 1].at)}`;
}

function titleOf({ key, at, estimated, first, verb }) {
  const guess = estimated ? ' (estimated)' : '';
  const moved = first && first !== at ? `; first planned for ${fullTime(first)}` : '';
  return `${key} ${verb} ${relative(at, now.peek())}, ${fullTime(at)}${guess}${moved}`;
}
