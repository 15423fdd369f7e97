import { END_OF_BODY_MS_MAX, readToEnd, withTimeout } from '@model-gateway/kernel';

/** Splits the bytes of a body into texts. */
export interface BodySplitter {
  /** The texts that these bytes complete. */
  push(bytes: Uint8Array): readonly string[];
  /** What is left at the end of the body. */
  rest(): readonly string[];
}

/**
 * Whether the texts that were read may be the whole answer. Then more are awaited only for a moment, and when the reader stops,
 * the rest is read too, so that the connection is used again.
 */
type IsComplete = () => boolean;

const OVER = { done: true, value: undefined } as const;

/** The texts of a streamed body. A reader that stops before the answer is complete cancels the response. */
export async function* splitBody(
  body: AsyncIterable<Uint8Array>,
  splitter: BodySplitter,
  isComplete: IsComplete = () => false,
): AsyncGenerator<string, void, undefined> {
  const source = body[Symbol.asyncIterator]();
  const read = () =>
    isComplete() ? withTimeout(source.next(), END_OF_BODY_MS_MAX, () => OVER) : source.next();
  try {
    for (let next = await read(); next.done !== true; next = await read())
      for (const text of splitter.push(next.value)) yield text;
    for (const text of splitter.rest()) yield text;
  } finally {
    if (isComplete()) readToEnd(source);
    else await source.return?.();
  }
}
