import type { RpcNotification } from '@model-gateway/contracts';
import { createParser } from 'eventsource-parser';
import { isObject, isResponse, parseJson, type RpcResponse } from './envelope.ts';
import { RpcConnectionError } from './rpc-errors.ts';

/** What arrives on an event stream: notifications, and copies of the responses to calls that named the session. */
export type RpcEvent = RpcNotification | RpcResponse;

/** Parses the bytes of an event stream into events. */
export interface EventParser {
  /** Whether the service has confirmed the subscription. */
  readonly isConnected: boolean;
  feed(bytes: Uint8Array): void;
  /** Returns and removes the complete events. */
  take(): readonly RpcEvent[];
}

const CONNECTED = 'connected';

export function createEventParser(): EventParser {
  const events: RpcEvent[] = [];
  const decoder = new TextDecoder();
  let isConnected = false;
  const parser = createParser({
    onEvent: ({ data }) => events.push(readEvent(data)),
    onComment: (comment) => {
      if (comment.trim() === CONNECTED) isConnected = true;
    },
  });
  return {
    get isConnected() {
      return isConnected;
    },
    feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    take: () => events.splice(0),
  };
}

function readEvent(data: string): RpcEvent {
  const event = parseJson(data);
  if (isResponse(event)) return event;
  if (isObject(event) && typeof event['method'] === 'string' && isObject(event['params'])) {
    return event as unknown as RpcNotification;
  }
  throw new RpcConnectionError('bad-answer', 'an event is neither a notification nor a response');
}
