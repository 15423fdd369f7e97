import type { Log } from '@model-gateway/kernel';
import type { UpstreamStream } from '@model-gateway/router';
import { contentOf, firstDelta, toolCallsOf } from './chunk-fields.ts';
import { relay } from './relay.ts';
import type { StreamObserver } from './stream-observer.ts';

/** One piece of an answer. */
export interface ChatDelta {
  readonly token: string;
  /** Pieces of tool calls, where there are any. */
  readonly toolCalls?: readonly unknown[];
}

interface ReadOptions {
  readonly observer: StreamObserver;
  readonly log: Log;
}

/**
 * The deltas of an upstream's stream as they arrive; the observer sees all of them. The first are those that came with the first
 * content; there are none of a thought. Ends when the response is complete and
 * throws an UpstreamFailure when it is not.
 */
export async function* readDeltas(
  stream: UpstreamStream,
  options: ReadOptions,
): AsyncGenerator<readonly ChatDelta[]> {
  let deltas: ChatDelta[] = [];
  const onChunk = (chunk: unknown): void => {
    const delta = deltaOf(chunk);
    if (delta !== undefined) deltas.push(delta);
  };
  const source = relay(stream, { ...options, onChunk, passesUsage: true, parsesAll: true });
  let isComplete = false;
  let hasBegun = false;
  try {
    while (!isComplete) {
      isComplete = (await source.next()) === undefined;
      if (deltas.length > 0 || !hasBegun) yield deltas;
      deltas = [];
      hasBegun = true;
    }
  } finally {
    if (!isComplete) source.leave();
  }
}

/** The visible delta of a chunk; undefined when there is none. */
function deltaOf(chunk: unknown): ChatDelta | undefined {
  const delta = firstDelta(chunk);
  const token = contentOf(delta);
  const toolCalls = toolCallsOf(delta);
  if (toolCalls.length > 0) return { token, toolCalls };
  return token === '' ? undefined : { token };
}
