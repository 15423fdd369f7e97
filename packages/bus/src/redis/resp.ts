/** What Redis refused, in its own words. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal';
}

/** Reads what Redis answers, piece by piece as it arrives. */
export interface ReplyReader {
  /** Takes the bytes that came, one per character. Throws when they are nothing that Redis says. */
  read(bytes: string): void;
}

const INCOMPLETE = Symbol('incomplete');
const LINE_END = '\r\n';
const STATUS = 0x2b;
const REFUSAL = 0x2d;
const NUMBER = 0x3a;
const TEXT = 0x24;
const LIST = 0x2a;
const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** A command as it is written to Redis. */
export function commandText(name: string, values: readonly string[]): string {
  let text = `*${values.length + 1}${LINE_END}$${name.length}${LINE_END}${name}${LINE_END}`;
  for (const value of values) {
    text += `$${Buffer.byteLength(value)}${LINE_END}${value}${LINE_END}`;
  }
  return text;
}

/**
 * Reads version 2 of the protocol, which Redis speaks until it is asked for another. A refusal is handed on as a RedisRefusal, also
 * one within a list. An answer of which a part is missing is read again from its beginning when more has come: answers are short.
 */
export function createReplyReader(onReply: (reply: unknown) => void): ReplyReader {
  let input = '';
  let at = 0;

  function readReply(): unknown {
    const end = input.indexOf(LINE_END, at);
    if (end === -1) return INCOMPLETE;
    const kind = input.charCodeAt(at);
    const line = input.slice(at + 1, end);
    at = end + LINE_END.length;
    switch (kind) {
      case TEXT:
        return readText(Number(line));
      case LIST:
        return readList(Number(line));
      case NUMBER:
        return Number(line);
      case STATUS:
        return decoded(line);
      case REFUSAL:
        return new RedisRefusal(decoded(line));
      default:
        throw new TypeError('Redis answered in another protocol');
    }
  }

  function readText(length: number): unknown {
    if (length < 0) return null;
    const end = at + length;
    if (end + LINE_END.length > input.length) return INCOMPLETE;
    const text = input.slice(at, end);
    at = end + LINE_END.length;
    return decoded(text);
  }

  function readList(length: number): unknown {
    if (length < 0) return null;
    const list: unknown[] = [];
    while (list.length < length) {
      const entry = readReply();
      if (entry === INCOMPLETE) return INCOMPLETE;
      list.push(entry);
    }
    return list;
  }

  return {
    read(bytes) {
      input = input === '' ? bytes : input + bytes;
      while (at < input.length) {
        const begin = at;
        const reply = readReply();
        if (reply === INCOMPLETE) {
          input = input.slice(begin);
          at = 0;
          return;
        }
        onReply(reply);
      }
      input = '';
      at = 0;
    },
  };
}

const decoded = (bytes: string): string =>
  BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
