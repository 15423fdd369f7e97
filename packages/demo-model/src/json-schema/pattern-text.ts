/**
 * A text that matches a regular expression, built from its source without running it: a regular expression of a client can
 * block the process. `extra` repeats unlimited parts more often. Undefined for look-around and back references, which it does
 * not support.
 */
export function textForPattern(source: string, extra: number): string | undefined {
  if (source.length > PATTERN_CHARS_MAX) return undefined;
  try {
    const reader: Reader = { source, at: 0, extra, left: TEXT_CHARS_MAX };
    const text = readAlternatives(reader);
    return reader.at === source.length ? text : undefined;
  } catch (error) {
    if (error instanceof UnknownSyntaxError) return undefined;
    throw error;
  }
}

const PATTERN_CHARS_MAX = 1_000;
const TEXT_CHARS_MAX = 10_000;

class UnknownSyntaxError extends Error {}

interface Reader {
  readonly source: string;
  readonly extra: number;
  at: number;
  /** How many characters may still be written. */
  left: number;
}

/** The first alternative; the others are read and dropped. */
function readAlternatives(reader: Reader): string {
  const first = readSequence(reader);
  while (reader.source[reader.at] === '|') {
    reader.at += 1;
    readSequence(reader);
  }
  return first;
}

function readSequence(reader: Reader): string {
  let text = '';
  while (reader.at < reader.source.length && !'|)'.includes(reader.source[reader.at] ?? '')) {
    const piece = readAtom(reader);
    const count = readCount(reader);
    reader.left -= piece.length * count;
    if (reader.left < 0) throw new UnknownSyntaxError();
    text += piece.repeat(count);
  }
  return text;
}

function readAtom(reader: Reader): string {
  const character = String.fromCodePoint(reader.source.codePointAt(reader.at) ?? 0);
  reader.at += character.length;
  switch (character) {
    case '^':
    case '$':
      return '';
    case '.':
      return 'a';
    case '(':
      return readGroup(reader);
    case '[':
      return readClass(reader);
    case '\\':
      return readEscape(reader);
    case '*':
    case '+':
    case '?':
      throw new UnknownSyntaxError();
    default:
      return character;
  }
}

function readGroup(reader: Reader): string {
  const rest = reader.source.slice(reader.at, reader.at + 64);
  const head = /^\?(?::|<[A-Za-z]\w*>)/.exec(rest)?.[0];
  if (head === undefined && rest.startsWith('?')) throw new UnknownSyntaxError();
  reader.at += head?.length ?? 0;
  const text = readAlternatives(reader);
  if (reader.source[reader.at] !== ')') throw new UnknownSyntaxError();
  reader.at += 1;
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  d: '1',
  D: 'a',
  w: 'a',
  W: '-',
  s: ' ',
  S: 'a',
  t: '\t',
  n: '\n',
  r: '\r',
  b: '',
};

function readEscape(reader: Reader): string {
  const character = reader.source[reader.at] ?? '';
  reader.at += 1;
  if (Object.hasOwn(ESCAPES, character)) return ESCAPES[character] ?? '';
  if (character === '' || /[\dA-Za-z]/.test(character)) throw new UnknownSyntaxError();
  return character;
}

const CANDIDATES = [
  ...'a1A-_ .'.split(''),
  ...Array.from({ length: 94 }, (_, index) => String.fromCodePoint(33 + index)),
];

/** The first allowed character of a class; a negated one allows what it does not list. */
function readClass(reader: Reader): string {
  const end = endOfClass(reader);
  const body = reader.source.slice(reader.at, end);
  reader.at = end + 1;
  const shape = classShape(body);
  const found = CANDIDATES.find((candidate) => shape.test(candidate));
  if (found !== undefined) return found;
  const first = /^\^?(?:\\u\{?([\dA-Fa-f]{4})\}?|([^\\^]))/u.exec(body);
  const character =
    first?.[1] === undefined ? first?.[2] : String.fromCodePoint(Number.parseInt(first[1], 16));
  if (character === undefined || !shape.test(character)) throw new UnknownSyntaxError();
  return character;
}

/** One class on one character: it cannot take long. */
function classShape(body: string): RegExp {
  try {
    return new RegExp(`^[${body}]$`, 'u');
  } catch {
    throw new UnknownSyntaxError();
  }
}

function endOfClass({ source, at }: Reader): number {
  let end = at;
  while (end < source.length && source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
  if (end >= source.length) throw new UnknownSyntaxError();
  return end;
}

/** How often the atom before is repeated: as rarely as allowed, plus `extra` within its limit. */
function readCount(reader: Reader): number {
  const rest = reader.source.slice(reader.at, reader.at + 32);
  const found = /^(?:[*+?]|\{(\d{1,5})(,(\d{0,5}))?\})\??/.exec(rest);
  if (found === null) return 1;
  reader.at += found[0].length;
  switch (found[0][0]) {
    case '*':
      return reader.extra;
    case '+':
      return 1 + reader.extra;
    case '?':
      return 0;
    default: {
      const least = Number(found[1]);
      if (found[2] === undefined) return least;
      const most = found[3] === '' ? Infinity : Number(found[3]);
      return Math.min(least + reader.extra, most);
    }
  }
}
