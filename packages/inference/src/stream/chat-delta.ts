import type { AnswerPart } from '@model-gateway/contracts';
import { CHAT_API, chatDelta } from '@model-gateway/dialects';
import { contentOf, firstDelta, toolCallsOf } from './chunk-fields.ts';

/** One piece of an answer. */
export interface ChatDelta {
  readonly token: string;
  /** Pieces of tool calls, where there are any. */
  readonly toolCalls?: readonly unknown[];
}

/** What a part shows: one piece or nothing. A thought shows nothing. */
export function deltasOf({ own, events }: AnswerPart): readonly ChatDelta[] {
  const delta = own?.api === CHAT_API ? firstDelta(own.value) : chatDelta(events);
  const token = contentOf(delta);
  const toolCalls = toolCallsOf(delta);
  if (toolCalls.length > 0) return [{ token, toolCalls }];
  return token === '' ? [] : [{ token }];
}
