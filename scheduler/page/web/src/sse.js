// Splits a byte stream of server-sent events into events. Knows no network and no DOM.
//
//   const parser = new EventParser();
//   for (const event of parser.push(text)) use(event.type, event.id, event.data);
//
// A first event can weigh megabytes, so a line's pieces are joined once, when its end has come.

export class EventParser {
  #pieces = []; // of the line that is not complete yet
  #endedInReturn = false; // a \n that comes next belongs to that line's end
  #type = '';
  #data = [];
  #id = ''; // stays until another replaces it, as the standard says

  // The events that `text`, the next piece of the stream, completes.
  push(text) {
    const events = [];
    let from = 0;
    if (this.#endedInReturn && text !== '') {
      if (text[0] === '\n') from = 1;
      this.#endedInReturn = false;
    }
    const ends = /\r\n?|\n/g;
    ends.lastIndex = from;
    for (let end; (end = ends.exec(text)) !== null; from = ends.lastIndex) {
      this.#pieces.push(text.slice(from, end.index));
      const event = this.#take(this.#pieces.join(''));
      this.#pieces = [];
      if (event !== null) events.push(event);
      this.#endedInReturn = end[0] === '\r' && ends.lastIndex === text.length;
    }
    if (from < text.length) this.#pieces.push(text.slice(from));
    return events;
  }

  #take(line) {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    if (colon === 0) return null; // a comment: a sign of life
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (field === 'event') this.#type = value;
    if (field === 'data') this.#data.push(value);
    if (field === 'id') this.#id = value;
    return null;
  }

  #finish() {
    const event = { type: this.#type || 'message', id: this.#id, data: this.#data.join('\n') };
    const empty = this.#data.length === 0;
    this.#type = '';
    this.#data = [];
    return empty ? null : event;
  }
}
