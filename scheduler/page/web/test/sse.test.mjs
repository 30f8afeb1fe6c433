import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../src/sse.js';

const stream = ': alive\n\nevent: rows\nid: a.1\ndata: {"at":1}\n\nevent: end\r\ndata: x\r\ndata: y\r\n\r\n';
const wanted = [
  { type: 'rows', id: 'a.1', data: '{"at":1}' },
  { type: 'end', id: 'a.1', data: 'x\ny' },
];

// Fear: the network cuts a stream anywhere, also between \r and \n.
test('an event is the same wherever its bytes are cut', () => {
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const parser = new EventParser();
    const events = [...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))];
    assert.deepEqual(events, wanted, `cut at ${cut}`);
  }
  const parser = new EventParser();
  assert.deepEqual(
    [...stream].flatMap((letter) => parser.push(letter)),
    wanted,
  );
});

// Fear: a sign of life looks like an event, and stale data looks fresh.
test('a comment is no event', () => {
  assert.deepEqual(new EventParser().push(':\n\n: x\n\nid: 3\n\n'), []);
});

// Fear: half an event is applied when the stream breaks.
test('an event without its empty line does not come out', () => {
  assert.deepEqual(new EventParser().push('event: rows\ndata: {}\n'), []);
});
