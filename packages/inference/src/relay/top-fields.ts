import { tryParseJson } from '@model-gateway/kernel';

/** Reads some fields of a JSON object that is too large to be parsed, while its bytes pass. */
export interface TopFields {
  add(chunk: Buffer): void;
  /** How many objects the list in a field has so far. */
  objectsIn(name: string): number;
  /** The wanted fields so far. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const OPENING: readonly number[] = [BRACE, 0x5b];
const CLOSING: readonly number[] = [0x7d, 0x5d];
/** A longer value is not kept. */
const VALUE_BYTES_MAX = 1024 * 1024;
const KEY_BYTES_MAX = 64;

/** Long strings, as images are, are skipped by a search for their end. */
export function createTopFields(wanted: readonly string[]): TopFields {
  const fields: Record<string, unknown> = {};
  const objects = new Map<string, number>();
  let depth = 0;
  let isInString = false;
  /** Of the backslashes at the end of the last chunk: whether the next character is escaped. */
  let isEscaped = false;
  /** The last string outside of values, which a colon makes a key. */
  let key = '';
  let isKey = false;
  let kept: Kept | undefined;

  function keep(piece: Buffer): void {
    if (isKey) key = (key + piece.toString('latin1')).slice(0, KEY_BYTES_MAX + 1);
    if (kept === undefined) return;
    kept.bytes += piece.length;
    if (kept.bytes > VALUE_BYTES_MAX) kept = undefined;
    else kept.pieces.push(Buffer.from(piece));
  }

  function endValue(): void {
    if (kept === undefined) return;
    const value = tryParseJson(Buffer.concat(kept.pieces).toString('utf8'));
    if (value !== undefined) fields[kept.name] = value;
    kept = undefined;
  }

  /** Passes over the rest of a string; returns the position after it. */
  function readString(chunk: Buffer, from: number): number {
    for (let at = from; ;) {
      const end = chunk.indexOf(QUOTE, at);
      const stop = end === -1 ? chunk.length : end;
      const escapes = escapesBefore(chunk, stop, at, at === from && isEscaped);
      if (end === -1) {
        isEscaped = escapes;
        keep(chunk.subarray(from));
        return chunk.length;
      }
      at = end + 1;
      if (escapes) continue;
      isEscaped = false;
      isInString = false;
      keep(chunk.subarray(from, end));
      isKey = false;
      if (kept !== undefined) keep(QUOTE_BYTES);
      return at;
    }
  }

  function readStructure(byte: number): void {
    if (byte === QUOTE) {
      isInString = true;
      isKey = depth === 1 && kept === undefined;
      if (isKey) key = '';
      if (kept !== undefined) keep(QUOTE_BYTES);
      return;
    }
    if (CLOSING.includes(byte)) depth -= 1;
    if ((depth === 1 && byte === COMMA) || depth === 0) endValue();
    else if (kept !== undefined) keep(Buffer.of(byte));
    else if (depth === 1 && byte === COLON && wanted.includes(key)) {
      kept = { name: key, pieces: [], bytes: 0 };
    }
    if (byte === BRACE && depth === 2) objects.set(key, (objects.get(key) ?? 0) + 1);
    if (OPENING.includes(byte)) depth += 1;
  }

  return {
    add(chunk) {
      for (let at = 0; at < chunk.length;) {
        if (isInString) {
          at = readString(chunk, at);
          continue;
        }
        readStructure(chunk[at] ?? 0);
        at += 1;
      }
    },
    objectsIn: (name) => objects.get(name) ?? 0,
    fields,
  };
}

const QUOTE_BYTES = Buffer.from('"');

/** A value that is being kept. */
interface Kept {
  readonly name: string;
  readonly pieces: Buffer[];
  bytes: number;
}

/** Whether an odd number of backslashes ends there, so that the next character is escaped. */
function escapesBefore(chunk: Buffer, end: number, from: number, startsEscaped: boolean): boolean {
  let at = end;
  while (at > from && chunk[at - 1] === BACKSLASH) at -= 1;
  const count = end - at + (at === from && startsEscaped ? 1 : 0);
  return count % 2 === 1;
}
