import type { TurnUsage } from '@model-gateway/contracts';
import { chatUsage } from './answer-of-chat.ts';

const USAGE: unique symbol = Symbol('usage so far');

/**
 * A copy of a chunk that knows the usage which its upstream has reported before the end, for streams that do not reach it.
 * It is not part of the JSON, because clients add up what the chunks have.
 */
export const withUsageSoFar = <Chunk extends object>(chunk: Chunk, usage: TurnUsage): Chunk => ({
  ...chunk,
  [USAGE]: chatUsage(usage),
});

/** The fields of that usage; undefined if the chunk has none. */
export const usageSoFar = (chunk: unknown): unknown =>
  typeof chunk === 'object' && chunk !== null ? Reflect.get(chunk, USAGE) : undefined;
