import type { TokenUsage } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import { answerHead } from '../answer-head.ts';
import type { Fields } from '../fields.ts';

/** Builds the chunks of one streamed response. */
export interface ChunkShape {
  /** One delta of the message; the first one has the role. */
  delta(delta: Readonly<Record<string, unknown>>, choice?: ChoiceFields): Fields;
  /** The last chunk, with the usage. */
  usage(usage: TokenUsage): Fields;
}

interface ChoiceFields {
  readonly finish_reason?: string;
}

/** The one choice of a whole answer, with the fields that clients of the convention expect in each, null where they say nothing. */
export function wholeChoice<Message extends object>(
  message: Message,
  fields: { readonly finish_reason: string },
) {
  return { index: 0, message: { refusal: null, ...message }, logprobs: null, ...fields };
}

/** Makes the chunks of one answer in the form of the chat-completions convention. */
export function createChunkShape(model: string, clock: Clock): ChunkShape {
  const { id, created } = answerHead(clock);
  const object = 'chat.completion.chunk';
  let isFirst = true;
  return {
    // Field by field, because this runs for each token.
    delta(given, choice) {
      const delta = isFirst ? { role: 'assistant', ...given } : given;
      isFirst = false;
      const piece = { index: 0, delta, finish_reason: null };
      const choices = [choice === undefined ? piece : { ...piece, ...choice }];
      return { id, created, object, model, choices };
    },
    usage: (usage) => ({ id, created, object, model, choices: [], usage }),
  };
}
