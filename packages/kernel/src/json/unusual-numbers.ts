const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LARGE_E = 0x45;
const BACKSLASH = 0x5c;
const SMALL_E = 0x65;

/** Shorter numbers without an exponent have no more digits than a double holds. */
const DIGITS_MIN = 16;
/** `JSON.stringify` writes smaller ones with an exponent. */
const SMALL = '0.00000';
/** Most names and many texts are shorter: a search would take longer to begin. */
const SHORT_CHARS = 16;

/**
 * The numbers of a valid JSON text that `JSON.stringify` would write otherwise, as positions: the start of each, then its end.
 * The inside of texts is skipped, and numbers are converted only if they are long or have an unusual form. Undefined if there are
 * more than `max`.
 */
export function unusualNumbers(text: string, max: number): readonly number[] | undefined {
  const spans: number[] = [];
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const start = at;
      at += 1;
      let next = text.charCodeAt(at);
      while (next >= ZERO && next <= NINE) next = text.charCodeAt((at += 1));
      // Most numbers are whole and short.
      const isWhole = next !== POINT && next !== SMALL_E && next !== LARGE_E;
      const mayBeZero = code === MINUS && text.charCodeAt(start + 1) === ZERO;
      if (isWhole && at - start < DIGITS_MIN && !mayBeZero) continue;
      if (!isWhole) at = endOfNumber(text, at);
      if (mayBeUnusual(text, start, at)) {
        const number = text.slice(start, at);
        if (String(Number(number)) !== number) spans.push(start, at);
        if (spans.length > 2 * max) return undefined;
      }
    } else at += 1;
  }
  return spans;
}

/** The position after the quote that ends a text. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (const near = from + SHORT_CHARS; at < near;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    at += code === BACKSLASH ? 2 : 1;
  }
  for (let quote = text.indexOf('"', at); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slash = quote;
    while (slash > at && text.charCodeAt(slash - 1) === BACKSLASH) slash -= 1;
    if ((quote - slash) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** The position after the number that begins there. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

const isOfNumber = (code: number): boolean =>
  (code >= ZERO && code <= NINE) ||
  code === POINT ||
  code === SMALL_E ||
  code === LARGE_E ||
  code === MINUS ||
  code === PLUS;

function mayBeUnusual(text: string, start: number, end: number): boolean {
  if (end - start >= DIGITS_MIN) return true;
  const isZeroLast = text.charCodeAt(end - 1) === ZERO;
  if (isZeroLast && end - start === 2 && text.charCodeAt(start) === MINUS) return true;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === SMALL_E || code === LARGE_E) return true;
    if (code === POINT && (isZeroLast || text.startsWith(SMALL, at - 1))) return true;
  }
  return false;
}
