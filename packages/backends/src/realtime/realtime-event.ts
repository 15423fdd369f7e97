import { tryParseJson } from '@model-gateway/kernel';
import type { UpstreamEvent } from '@model-gateway/router';
import { z } from 'zod';
import { upstreamFailed, withoutSecret } from '../errors/upstream-error.ts';

const eventSchema = z.record(z.string(), z.unknown());

/** Parses a frame with one event. */
export function readEvent(bytes: Buffer, secret: string | null): UpstreamEvent {
  const text = bytes.toString('utf8');
  const parsed = eventSchema.safeParse(tryParseJson(text));
  if (!parsed.success) throw upstreamFailed('the upstream sent something that is not an event');
  // Between the tokens of JSON a line break is equal to a space.
  return withoutQuotedKey({ event: parsed.data, text: text.replace(/[\r\n]+/g, ' ') }, secret);
}

/** An event inside another message. */
export function eventOf(value: unknown, secret: string | null): UpstreamEvent {
  const parsed = eventSchema.safeParse(value);
  if (!parsed.success) throw upstreamFailed('the upstream sent something that is not an event');
  return withoutQuotedKey({ event: parsed.data, text: JSON.stringify(value) }, secret);
}

/** The key is removed from error messages. Other events pass unchanged. */
function withoutQuotedKey(read: UpstreamEvent, secret: string | null): UpstreamEvent {
  if (read.event['type'] !== 'error' || secret === null) return read;
  const quoted = JSON.stringify(secret).slice(1, -1);
  const text = withoutSecret(JSON.stringify(read.event), quoted);
  return { event: eventSchema.parse(JSON.parse(text)), text };
}
