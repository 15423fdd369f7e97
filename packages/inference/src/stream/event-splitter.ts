const NEWLINE = 0x0a;
/** An event is parsed at once, so that it must not be long. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
const RETURN = 0x0d;

/**
 * Splits a byte stream of server-sent events at the ends of events. The results are whole events, each ended by an empty
 * line, so that a character is never split.
 */
export interface EventSplitter {
  /** The events that are complete now; empty while one is incomplete. */
  push(chunk: Buffer): Buffer;
  /** The rest at the end of the stream, as if it were complete. */
  rest(): Buffer;
}

const NOTHING = Buffer.alloc(0);

export function createEventSplitter(): EventSplitter {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  // A carriage return at the end of a chunk: the next chunk shows whether a newline follows.
  let heldReturn = false;

  function withoutReturns(raw: Buffer): Buffer {
    const text = (heldReturn ? '\r' : '') + raw.toString('latin1');
    heldReturn = text.endsWith('\r');
    const known = heldReturn ? text.slice(0, -1) : text;
    // A carriage return alone ends a line too: clients see the events that it separates, so we have to.
    return Buffer.from(known.replaceAll(/\r\n?/g, '\n'), 'latin1');
  }

  function keep(tail: Buffer): void {
    waiting = tail.length === 0 ? [] : [tail];
    waitingBytes = tail.length;
  }

  return {
    push(raw) {
      const chunk = heldReturn || raw.includes(RETURN) ? withoutReturns(raw) : raw;
      if (chunk.length === 0) return NOTHING;
      // Most upstreams send whole events.
      if (waitingBytes === 0 && chunk.at(-1) === NEWLINE && chunk.at(-2) === NEWLINE) return chunk;
      // The end of an event can be split across two chunks.
      const last = waiting.at(-1)?.at(-1);
      const startsWithEnd = last === NEWLINE && chunk[0] === NEWLINE;
      const end = chunk.lastIndexOf('\n\n');
      if (end === -1 && !startsWithEnd) {
        waiting.push(chunk);
        waitingBytes += chunk.length;
        if (waitingBytes > EVENT_BYTES_MAX)
          throw new Error('the upstream sent an event that is too large');
        return NOTHING;
      }
      const cut = end === -1 ? 1 : end + 2;
      const whole = chunk.subarray(0, cut);
      const events = waiting.length === 0 ? whole : Buffer.concat([...waiting, whole]);
      keep(chunk.subarray(cut));
      return events;
    },
    rest() {
      if (waitingBytes === 0) return NOTHING;
      const rest = Buffer.concat([...waiting, Buffer.from('\n\n')]);
      keep(NOTHING);
      return rest;
    },
  };
}
