const NEWLINE = 0x0a;
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
const RETURN = 0x0d;

/**
 * Cuts a byte stream of server-sent events where events end, whatever pieces it arrives in. What comes out holds whole
 * events, each ended by an empty line; a character that arrives in two halves is never looked at in half.
 */
export interface EventSplitter {
  /** The whole events that are complete now; empty while one is still on its way. */
  push(chunk: Buffer): Buffer;
  /** Whether nothing is on its way: the next chunk begins an event. */
  isEmpty(): boolean;
  /** What was left when the stream ended, as if it had been whole. */
  rest(): Buffer;
}

const NOTHING = Buffer.alloc(0);

export function createEventSplitter(): EventSplitter {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  // A return at the end of a chunk: whether a newline follows is known with the next one.
  let heldReturn = false;

  function withoutReturns(raw: Buffer): Buffer {
    const text = (heldReturn ? '\r' : '') + raw.toString('latin1');
    heldReturn = text.endsWith('\r');
    return Buffer.from((heldReturn ? text.slice(0, -1) : text).replaceAll('\r\n', '\n'), 'latin1');
  }

  function keep(tail: Buffer): void {
    waiting = tail.length === 0 ? [] : [tail];
    waitingBytes = tail.length;
  }

  return {
    push(raw) {
      const chunk = heldReturn || raw.includes(RETURN) ? withoutReturns(raw) : raw;
      if (chunk.length === 0) return NOTHING;
      // The end of an event can lie across two chunks.
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
    isEmpty: () => waitingBytes === 0 && !heldReturn,
    rest() {
      if (waitingBytes === 0) return NOTHING;
      const rest = Buffer.concat([...waiting, Buffer.from('\n\n')]);
      keep(NOTHING);
      return rest;
    },
  };
}
