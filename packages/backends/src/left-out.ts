import type { Turn, TurnMessage } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';

/** Fields that have no effect for a single answer, or ask for what is done anyway. */
const EMPTY = new Set(['n', 'store', 'modalities']);

/** The names of the fields of chat completions that a kind does not know, as `x-service-ignored` has them. */
export function leftOut({ further = {} }: Turn, known: ReadonlySet<string>): readonly string[] {
  return Object.entries(further).flatMap(([name, value]) =>
    known.has(name) || EMPTY.has(name) || numberOf(value) === 0 || value === false ? [] : [name],
  );
}

/** Whether an image of a request has a detail, which only some kinds know. */
export const hasDetail = (messages: readonly TurnMessage[]): boolean =>
  messages.some(
    (message) =>
      (message.role === 'user' || message.role === 'tool') &&
      message.parts.some(
        (part) => part.type === 'image' && part.detail !== undefined && part.detail !== 'auto',
      ),
  );
