import { endsWithEvent } from '@model-gateway/http';
import { errorEvent, type RelayedResponse } from '@model-gateway/inference';
import type { HttpAnswer } from '../surface/http-answer.ts';
import { drained, EVENT_HEADERS, type EventOptions } from './write-events.ts';

const PLAIN = /^[\x20-\x7e]{1,256}$/;
const TYPE_DEFAULT = 'application/octet-stream';
const EVENT_TYPE = 'text/event-stream';

/** Sends an answer of an upstream as it arrives, at the speed that the client reads. */
export async function writeRelayed(
  answer: HttpAnswer,
  relayed: RelayedResponse,
  { headers, disconnected }: Pick<EventOptions, 'headers' | 'disconnected'>,
): Promise<void> {
  const { response } = answer;
  answer.begin([...headers, ...contentHeaders(relayed)]);
  if (relayed.contentType.startsWith(EVENT_TYPE)) endsWithEvent(response, errorEvent);
  const cut = await relayed.deliver((bytes) =>
    answer.write(bytes) ? undefined : drained(response, { disconnected }),
  );
  if (cut === undefined) answer.end();
  else answer.breakOff(cut.failure);
}

function contentHeaders({ contentType, length }: RelayedResponse): readonly string[] {
  const type = ['content-type', PLAIN.test(contentType) ? contentType : TYPE_DEFAULT];
  if (contentType.startsWith(EVENT_TYPE)) return [...type, ...EVENT_HEADERS];
  return length === undefined ? type : [...type, 'content-length', String(length)];
}
