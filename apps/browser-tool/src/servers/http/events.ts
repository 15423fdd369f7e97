import type { Request, Response } from 'express';
import type { EventHub } from '../../capture/event-hub.ts';
import { wellFormed } from '../../well-formed.ts';

const KEEP_ALIVE_MS = 15_000;
// A slow client misses events, so that they do not fill the memory.
const UNSENT_BYTES_MAX = 4 * 1024 * 1024;

/** Streams captures as server-sent events until the client disconnects or the server stops. */
export function streamEvents(
  events: EventHub,
  request: Request,
  response: Response,
  stopping: AbortSignal,
): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'keep-alive',
  });
  response.write(': connected\n\n');
  let missed = 0;
  const send = (text: string): void => {
    if (response.writableLength > UNSENT_BYTES_MAX) missed += 1;
    else response.write(text);
  };
  const stopListening = events.listen((kind, data) => {
    if (missed > 0 && response.writableLength === 0) {
      response.write(`: ${missed} events were dropped\n\n`);
      missed = 0;
    }
    send(`event: ${kind}\ndata: ${JSON.stringify(wellFormed(data))}\n\n`);
  });
  const keepAlive = setInterval(() => send(': \n\n'), KEEP_ALIVE_MS);
  const end = (): void => {
    stopListening();
    clearInterval(keepAlive);
    stopping.removeEventListener('abort', end);
    response.end();
  };
  request.once('close', end);
  stopping.addEventListener('abort', end);
}
