import { isCheapJson, tryParseExactJson, tryParseJson } from '@model-gateway/kernel';
import type { RealtimeEvent, UpstreamEvent } from '@model-gateway/router';
import { upstreamFailed, withoutSecret } from '../errors/upstream-error.ts';

/** Parses a frame with one event. */
export function readEvent(bytes: Buffer, secret: string | null): UpstreamEvent {
  const text = bytes.toString('utf8');
  if (!isCheapJson(text)) throw upstreamFailed('the upstream sent an event with too many values');
  const event = tryParseJson(text);
  if (!isObject(event)) throw upstreamFailed('the upstream sent something that is not an event');
  // Between the tokens of JSON a line break is equal to a space.
  return withoutQuotedKey({ event, text: text.replace(/[\r\n]+/g, ' ') }, secret);
}

/** An event inside another message. */
export function eventOf(value: unknown, secret: string | null): UpstreamEvent {
  if (!isObject(value)) throw upstreamFailed('the upstream sent something that is not an event');
  return withoutQuotedKey({ event: value, text: JSON.stringify(value) }, secret);
}

/** The key is removed from error messages. What the model says passes unchanged. */
function withoutQuotedKey(read: UpstreamEvent, secret: string | null): UpstreamEvent {
  if (secret === null || cleaned(read.event, secret) === undefined) return read;
  const exact = tryParseExactJson(read.text);
  const event = cleaned(isObject(exact) ? exact : read.event, secret);
  return event === undefined ? read : { event, text: JSON.stringify(event) };
}

/** The event without the key, if it tells an error: its own, or that of a response that failed. */
function cleaned(event: RealtimeEvent, secret: string): RealtimeEvent | undefined {
  if (event['type'] === 'error') {
    const whole = cleanedValue(event, secret);
    return isObject(whole) ? whole : undefined;
  }
  const response = isObject(event['response']) ? event['response'] : undefined;
  const { error } = event;
  const details = response?.['status_details'];
  if (isAbsent(error) && isAbsent(details)) return undefined;
  return {
    ...event,
    ...(isAbsent(error) ? {} : { error: cleanedValue(error, secret) }),
    ...(isAbsent(details)
      ? {}
      : { response: { ...response, status_details: cleanedValue(details, secret) } }),
  };
}

function cleanedValue(value: unknown, secret: string): unknown {
  const quoted = JSON.stringify(secret).slice(1, -1);
  return tryParseExactJson(withoutSecret(JSON.stringify(value), quoted));
}

/** No schema: it would visit every field, and an event can have many. */
const isObject = (value: unknown): value is RealtimeEvent =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
