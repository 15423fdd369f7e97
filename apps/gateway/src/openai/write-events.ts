import type { ServerResponse } from 'node:http';
import { beginResponse, breakOff, endsWithEvent } from '@model-gateway/http';
import { errorEvent, type StreamedChat } from '@model-gateway/inference';
import type { Cancel } from '@model-gateway/kernel';

/** How events are sent. */
export interface WriteOptions {
  /** Further headers: names and values alternate. */
  readonly headers: readonly string[];
  readonly disconnected: Cancel;
}

const DONE = 'data: [DONE]\n\n';
/** So that nothing between the service and the client holds events back. */
export const EVENT_HEADERS: readonly string[] = [
  'cache-control',
  'no-cache, no-transform',
  'x-accel-buffering',
  'no',
];
export const STREAM_HEADERS: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  ...EVENT_HEADERS,
];

/** Sends server-sent events as they arrive, at the speed that the client reads, and then the end mark, if they are whole. */
export async function writeEvents(
  response: ServerResponse,
  streamed: Pick<StreamedChat, 'deliver'>,
  { headers, disconnected }: WriteOptions,
): Promise<void> {
  beginResponse(response, 200, [...headers, ...STREAM_HEADERS]);
  response.socket?.setNoDelay(true);
  endsWithEvent(response, errorEvent);
  const cut = await streamed.deliver((events) =>
    response.write(events) ? undefined : drained(response, disconnected),
  );
  if (cut === undefined) response.end(DONE);
  else breakOff(response, cut.failure);
}

/** Resolves when the client has caught up or has disconnected. */
export function drained(response: ServerResponse, disconnected: Cancel): Promise<void> {
  if (disconnected.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onEither = () => {
      response.off('drain', onEither);
      disconnected.removeEventListener('abort', onEither);
      resolve();
    };
    response.once('drain', onEither);
    disconnected.addEventListener('abort', onEither, { once: true });
  });
}
