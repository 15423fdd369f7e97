import type { TokenUsage } from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';

/** Builds the chunks of one streamed response. */
export interface ChunkShape {
  /** One delta of the message; the first one has the role. */
  delta(delta: Readonly<Record<string, unknown>>, choice?: ChoiceFields): ChatChunk;
  /** The last chunk, with the usage. */
  usage(usage: TokenUsage): ChatChunk;
}

interface ChoiceFields {
  readonly finish_reason?: string;
  /** The text of `stop` that ended the answer, where the upstream says it. */
  readonly stop_sequence?: string;
  readonly logprobs?: unknown;
}

/** The context that is needed to read a response. */
export interface AnswerContext {
  /** The requested model. */
  readonly model: string;
  readonly clock: Clock;
  /** The backend's key, which must not appear in messages. */
  readonly secret: string | null;
}

/** The head of a new response, for upstreams that send none. */
export function answerHead(clock: Clock): { readonly id: string; readonly created: number } {
  return { id: `chatcmpl-${newId()}`, created: Math.floor(clock.now() / 1000) };
}

/** The one choice of a whole answer, with the fields that clients of the convention expect in each, null where they say nothing. */
export function wholeChoice<Message extends object>(
  message: Message,
  fields: { readonly finish_reason: string; readonly logprobs?: unknown },
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

/** The usage of an answer out of its two counts. */
export function tokenUsage(promptTokens: number, completionTokens: number): TokenUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
