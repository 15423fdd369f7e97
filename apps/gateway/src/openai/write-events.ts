import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Sends server-sent events as fast as the client reads them, and no faster than they come. */
export async function writeEvents(
  response: ServerResponse,
  events: AsyncIterable<Uint8Array>,
  clientGone: AbortSignal,
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
async function drained(response: ServerResponse, clientGone: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal: clientGone });
  } catch {
    // Gone: the next look at the signal ends the stream.
  }
}
