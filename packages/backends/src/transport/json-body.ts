import { randomUUID } from 'node:crypto';
import { yieldToEventLoop } from '@model-gateway/kernel';

/** A longer string takes long to quote: some characters become six. */
const LONG_CHARS_MIN = 256 * 1024;

/** The JSON of a request. One with long strings is made in steps, between which the process serves other requests. */
export function jsonBody(value: unknown): string | Promise<Buffer> {
  return hasLongString(value) ? inSteps(value) : JSON.stringify(value);
}

function hasLongString(value: unknown): boolean {
  if (typeof value === 'string') return value.length > LONG_CHARS_MIN;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLongString);
  return Object.values(value).some(hasLongString);
}

async function inSteps(value: unknown): Promise<Buffer> {
  // It is random, so that no text of the request can contain it.
  const mark = randomUUID();
  const long: string[] = [];
  const outline = JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one !== 'string' || one.length <= LONG_CHARS_MIN) return one;
    long.push(one);
    return mark;
  });
  const parts: Buffer[] = [];
  for (const [index, between] of outline.split(mark).entries()) {
    parts.push(Buffer.from(between));
    const text = long[index] ?? '';
    for (let at = 0; at < text.length;) {
      const end = stepEnd(text, at);
      parts.push(Buffer.from(JSON.stringify(text.slice(at, end)).slice(1, -1)));
      at = end;
      await yieldToEventLoop();
    }
  }
  return Buffer.concat(parts);
}

/** Not inside of a character of two units: half of it would be quoted in another way. */
function stepEnd(text: string, from: number): number {
  const end = Math.min(from + LONG_CHARS_MIN, text.length);
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
