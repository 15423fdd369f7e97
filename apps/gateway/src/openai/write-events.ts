import type { ServerResponse } from 'node:http';
import { beginAnswer } from '@model-gateway/http';
import type { StreamedChat } from '@model-gateway/inference';
import type { Cancel } from '@model-gateway/kernel';
import { takeOverChunks } from './chunked-body.ts';

interface WriteOptions {
  /** Further headers: names and values, one after the other. */
  readonly headers: readonly string[];
  readonly clientGone: Cancel;
}

const DONE = 'data: [DONE]\n\n';
const STREAM_HEADERS = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache, no-transform',
  'x-accel-buffering',
  'no',
];

/** Sends server-sent events as fast as the client reads them and no faster than they come, and the end mark behind them. */
export async function writeEvents(
  response: ServerResponse,
  streamed: Pick<StreamedChat, 'deliver'>,
  { headers, clientGone }: WriteOptions,
): Promise<void> {
  beginAnswer(response, 200, [...headers, ...STREAM_HEADERS]);
  response.socket?.setNoDelay(true);
  const body = takeOverChunks(response);
  await streamed.deliver((events) =>
    body.write(events) ? undefined : drained(response, clientGone),
  );
  body.end(DONE);
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
