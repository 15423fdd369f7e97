import type { ServerResponse } from 'node:http';

/**
 * How long the connection stays open after the event of a failure. Clients drop what they have not read when a connection breaks;
 * those that know the event close it themselves.
 */
export const LAST_EVENT_MS = 1_000;

const LAST_EVENT = Symbol('the last event of a stream that breaks off');

type WriteLastEvent = (failure: unknown) => string | Buffer;

interface LastEvent {
  readonly write: WriteLastEvent;
  /** Whether the event alone says that the answer is not whole; otherwise the connection closes, too. */
  readonly isEnough: boolean;
}

interface Streamed {
  [LAST_EVENT]?: LastEvent | undefined;
}

/** From now on this response ends with such an event if it breaks off. */
export function endsWithEvent(
  response: ServerResponse & Streamed,
  write: WriteLastEvent,
  { isEnough = false }: { readonly isEnough?: boolean | undefined } = {},
): void {
  response[LAST_EVENT] = { write, isEnough };
}

/** Whether the client learns from an event that this response breaks off. */
export const hasLastEvent = (response: ServerResponse & Streamed): boolean =>
  response[LAST_EVENT] !== undefined;

/**
 * Ends a response that is not whole: after the event of the failure, if it has one, its connection closes in the middle of the
 * body, so that no client takes the answer for whole; unless that event is enough. Returns the event.
 */
export function breakOff(
  response: ServerResponse & Streamed,
  failure: unknown,
): string | Uint8Array {
  const last = response[LAST_EVENT];
  if (last === undefined || response.writableEnded) {
    closeConnection(response);
    return '';
  }
  response[LAST_EVENT] = undefined;
  const event = last.write(failure);
  if (last.isEnough) {
    response.end(event);
    return event;
  }
  response.write(event);
  const timer = setTimeout(() => closeConnection(response), LAST_EVENT_MS).unref();
  response.once('close', () => clearTimeout(timer));
  return event;
}

/** What was written is still sent. */
function closeConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null) response.destroy();
  else socket.destroySoon();
}
