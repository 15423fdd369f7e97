import type { AnswerPart, OwnForm, TurnEvent } from '@model-gateway/contracts';
import { createChunkReader } from './read-answer.ts';
import { CHAT_API } from '../turn/upstream-turn.ts';

/** Reads the chunks of one streamed completion. What they say is read when it is first asked for, in their order. */
export function chatParts(): (chunk: OwnForm['value']) => AnswerPart {
  const read = createChunkReader();
  return (chunk) => new ChatPart(chunk, read);
}

class ChatPart implements AnswerPart {
  readonly own: OwnForm;
  readonly #read: (chunk: unknown) => readonly TurnEvent[];
  #events: readonly TurnEvent[] | undefined;

  constructor(value: OwnForm['value'], read: (chunk: unknown) => readonly TurnEvent[]) {
    this.own = { api: CHAT_API, value };
    this.#read = read;
  }

  get events(): readonly TurnEvent[] {
    this.#events ??= this.#read(this.own.value);
    return this.#events;
  }
}
