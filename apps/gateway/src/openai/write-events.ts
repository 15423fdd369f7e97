import type { ServerResponse } from 'node:http';
import type { Cancel } from '@model-gateway/kernel';

/** Sends server-sent events as fast as the client reads them, and no faster than they come. */
export async function writeEvents(
  response: ServerResponse,
  events: AsyncIterable<Uint8Array>,
  clientGone: Cancel,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.socket?.setNoDelay(true);
  for await (const event of events) {
    if (clientGone.aborted) break;
    if (!response.write(event)) await drained(response, clientGone);
  }
  response.end();
}

/** Resolves when the client has caught up, or is gone. */
function drained(response: ServerResponse, clientGone: Cancel): Promise<void> {
  if (clientGone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onEither = () => {
      response.off('drain', onEither);
      clientGone.removeEventListener('abort', onEither);
      resolve();
    };
    response.once('drain', onEither);
    clientGone.addEventListener('abort', onEither, { once: true });
  });
}
