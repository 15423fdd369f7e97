const SECOND_MS = 1_000;
/** What the text of a moment ends with after its seconds: `000Z`. */
const REST_CHARS = 4;
const MILLISECOND_CHARS = 3;

let second = Number.NaN;
let untilSecond = '';

/**
 * A moment in milliseconds since the epoch as `toISOString` writes it. That costs some microseconds, and those who
 * write the time with every request nearly always do it in the second of the one before.
 */
export function isoTime(moment: number): string {
  const at = Math.floor(moment);
  const milliseconds = at - Math.floor(at / SECOND_MS) * SECOND_MS;
  if (at - milliseconds !== second) {
    untilSecond = new Date(at - milliseconds).toISOString().slice(0, -REST_CHARS);
    second = at - milliseconds;
  }
  return `${untilSecond}${String(milliseconds).padStart(MILLISECOND_CHARS, '0')}Z`;
}
