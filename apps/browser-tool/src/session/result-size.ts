import { ToolError } from '../errors.ts';

const RESULT_CHARS_MAX = 1024 * 1024;

/** Fails if the JSON of a script's result is too long. */
export function checkResultSize(chars: number): void {
  if (chars <= RESULT_CHARS_MAX) return;
  const size = (chars / (1024 * 1024)).toFixed(1);
  throw new ToolError('RESULT_TOO_LARGE', `The result is ${size} MiB of JSON, more than 1 MiB.`, {
    hint: 'Return only what is needed, such as a part of it or a count.',
    details: { chars, chars_max: RESULT_CHARS_MAX },
  });
}
