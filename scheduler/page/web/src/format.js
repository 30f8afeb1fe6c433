// How numbers, times and kinds of GPU are written. Knows no DOM; `now` is always an argument.

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

export function number(value) {
  return grouped.format(value);
}

// Two units at most, so that a column of them stays narrow: "42 s", "4 min", "3 h 20 min", "2 d 4 h".
export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return hours < 10 && minutes % 60 > 0 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return days < 10 && hours % 24 > 0 ? `${days} d ${hours % 24} h` : `${days} d`;
}

// "in 4 min", "4 min ago", "now".
export function relative(at, now) {
  const ahead = at - now;
  if (Math.abs(ahead) < 1) return 'now';
  return ahead > 0 ? `in ${duration(ahead)}` : `${duration(-ahead)} ago`;
}

// With the day where it is another one than that of `now`.
export function clockTime(at, now = at) {
  const [then, today] = [new Date(at * 1000), new Date(now * 1000)];
  const prefix = then.toDateString() === today.toDateString() ? '' : `${day.format(then)} `;
  return `${prefix}${clock.format(then)}`;
}

// With seconds and the zone, for titles.
export function fullTime(at) {
  return full.format(new Date(at * 1000));
}

// An amount in the base unit of its resource, with the unit where it has one: bytes are written in powers of 1,024.
export function amount(resource, value) {
  if (!/memory|storage|hugepages/.test(resource)) return number(value);
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${number(rest)} ${units[unit]}`;
}

export function isGpu(resource) {
  return /gpu/i.test(resource) || sevenths(resource) > 0;
}

// Of "nvidia.com/mig-3g.40gb": 3, the sevenths of a GPU that one slice is. 0 = not a slice.
export function sevenths(resource) {
  const match = /\/mig-(?:\d+c\.)?(\d+)g\./.exec(resource);
  return match === null ? 0 : Math.min(7, Number(match[1]));
}

// Without the vendor: "gpu", "mig-3g.40gb".
export function shortResource(resource) {
  return resource.slice(resource.indexOf('/') + 1);
}

// What a gang asks for: "12 × 8", "2 × 1 mig-3g.40gb", or its pods where it asks for no GPU.
export function asksText(gang) {
  const asks = gang.asks ?? [];
  if (asks.length === 0) return plural(gang.members?.total ?? gang.min ?? 1, 'pod');
  return asks
    .map((ask) => {
      const kind = sevenths(ask.name) > 0 ? ` ${shortResource(ask.name)}` : '';
      return `${number(ask.members)} × ${number(ask.amount)}${kind}`;
    })
    .join(' + ');
}

// "16: 12 running, 4 bound; quorum 16". `bound` includes those that run.
export function membersText({ members, min }) {
  const { total = 0, pending = 0, bound = 0, running = 0 } = members;
  const parts = [
    [running, 'running'],
    [bound - running, 'bound'],
    [pending, 'pending'],
  ].filter(([count]) => count > 0);
  const states = parts.map(([count, word]) => `${number(count)} ${word}`).join(', ') || 'none yet';
  return `${number(total)}: ${states}; quorum ${number(min ?? total)}`;
}

export function plural(count, one, many = `${one}s`) {
  const written = number(count);
  return `${written} ${written === '1' ? one : many}`;
}

// "a, b and c"
export function listing(words, joint = 'and') {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${joint} ${words[words.length - 1]}`;
}

// What all names begin with, up to the last separator: "gpu-" of gpu-07 and gpu-12.
export function commonPrefix(names) {
  if (new Set(names).size < 2) return '';
  let length = names[0].length;
  for (const name of names) {
    let same = 0;
    while (same < length && name[same] === names[0][same]) same += 1;
    length = same;
  }
  return names[0].slice(0, length).replace(/[^-._]*$/, '');
}
