import { contentOf, firstDelta, toolCallsOf } from './chunk-fields.ts';

/** One piece of an answer. */
export interface ChatDelta {
  readonly token: string;
  /** Pieces of tool calls, where there are any. */
  readonly toolCalls?: readonly unknown[];
}

/** What a chunk, or a text in its place, shows: one piece or nothing. A thought shows nothing. */
export function deltasOf(chunk: unknown): readonly ChatDelta[] {
  if (typeof chunk === 'string') return [{ token: chunk }];
  const delta = firstDelta(chunk);
  const token = contentOf(delta);
  const toolCalls = toolCallsOf(delta);
  if (toolCalls.length > 0) return [{ token, toolCalls }];
  return token === '' ? [] : [{ token }];
}
