import { newId, type Clock } from '@model-gateway/kernel';

/** The context that is needed to read a whole answer. */
export interface AnswerContext {
  /** The requested model. */
  readonly model: string;
  readonly clock: Clock;
}

/** The head of a new answer, for upstreams that send none. */
export function answerHead(clock: Clock): { readonly id: string; readonly created: number } {
  return { id: `chatcmpl-${newId()}`, created: Math.floor(clock.now() / 1000) };
}
