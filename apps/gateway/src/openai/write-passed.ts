import type { ServerResponse } from 'node:http';
import { beginResponse, breakOff, endsWithEvent } from '@model-gateway/http';
import { errorEvent, type PassedResponse } from '@model-gateway/inference';
import { drained, EVENT_HEADERS, type EventOptions } from './write-events.ts';

const PLAIN = /^[\x20-\x7e]{1,256}$/;
const TYPE_DEFAULT = 'application/octet-stream';
const EVENT_TYPE = 'text/event-stream';

/** Sends an answer of an upstream as it arrives, at the speed that the client reads. */
export async function writePassed(
  response: ServerResponse,
  passed: PassedResponse,
  { headers, disconnected }: Pick<EventOptions, 'headers' | 'disconnected'>,
): Promise<void> {
  beginResponse(response, 200, [...headers, ...contentHeaders(passed)]);
  if (passed.contentType.startsWith(EVENT_TYPE)) endsWithEvent(response, errorEvent);
  const cut = await passed.deliver((bytes) =>
    response.write(bytes) ? undefined : drained(response, { disconnected }),
  );
  if (cut === undefined) response.end();
  else breakOff(response, cut.failure);
}

function contentHeaders({ contentType, length }: PassedResponse): readonly string[] {
  const type = ['content-type', PLAIN.test(contentType) ? contentType : TYPE_DEFAULT];
  if (contentType.startsWith(EVENT_TYPE)) return [...type, ...EVENT_HEADERS];
  return length === undefined ? type : [...type, 'content-length', String(length)];
}
