import type { TokenUsage } from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';

/** What the pieces of one streamed answer have in common. */
export interface ChunkShape {
  /** One piece of the message; the first one says who speaks. */
  delta(delta: Readonly<Record<string, unknown>>, choice?: ChoiceFields): ChatChunk;
  /** The last chunk of all: how many tokens it took. */
  usage(usage: TokenUsage): ChatChunk;
}

interface ChoiceFields {
  readonly finish_reason?: string;
  readonly logprobs?: unknown;
}

/** What is needed to read an answer besides the answer. */
export interface AnswerContext {
  /** The model that was asked for. */
  readonly model: string;
  readonly clock: Clock;
  /** The backend's key, which messages must not show. */
  readonly secret: string | null;
}

/** The head of a new answer, for upstreams that give it none of their own. */
export function answerHead(clock: Clock): { readonly id: string; readonly created: number } {
  return { id: `chatcmpl-${newId()}`, created: Math.floor(clock.now() / 1000) };
}

/** Makes the chunks of one answer in the form of the chat-completions convention. */
export function createChunkShape(model: string, clock: Clock): ChunkShape {
  const head = { ...answerHead(clock), object: 'chat.completion.chunk', model };
  let isFirst = true;
  return {
    delta(delta, choice = {}) {
      const role = isFirst ? { role: 'assistant' } : {};
      isFirst = false;
      const piece = { index: 0, delta: { ...role, ...delta }, finish_reason: null, ...choice };
      return { ...head, choices: [piece] };
    },
    usage: (usage) => ({ ...head, choices: [], usage }),
  };
}

/** The usage of an answer out of its two counts. */
export function usageOf(promptTokens: number, completionTokens: number): TokenUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
