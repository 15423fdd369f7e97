import type { UpstreamEvent } from '@model-gateway/router';
import { z } from 'zod';
import { parseJson } from '../transport/read-text.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';

const eventSchema = z.record(z.string(), z.unknown());

/** Reads a frame that has to be one event. */
export function readEvent(bytes: Buffer): UpstreamEvent {
  const text = bytes.toString('utf8');
  const parsed = eventSchema.safeParse(parseJson(text));
  if (!parsed.success) throw upstreamFailed('the upstream sent something that is not an event');
  // Between the tokens of JSON a line break says no more than a space does.
  return { event: parsed.data, text: text.replace(/[\r\n]+/g, ' ') };
}

/** An event that came as a part of something else. */
export function eventOf(value: unknown): UpstreamEvent {
  const parsed = eventSchema.safeParse(value);
  if (!parsed.success) throw upstreamFailed('the upstream sent something that is not an event');
  return { event: parsed.data, text: JSON.stringify(value) };
}
