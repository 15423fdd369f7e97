import { readWritten, tokenUsageSchema } from '@model-gateway/contracts';
import type { UpstreamFailure } from '@model-gateway/router';
import { z } from 'zod';
import { ifPresent } from '../if-present.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';

/** The supported version of the engine protocol. */
export const ENGINE_PROTOCOL = 1;

/** The handshake of an engine. */
export const handshakeSchema = z.looseObject({
  engine: z.looseObject({ name: z.string(), version: z.string().optional() }),
  capabilities: z.array(z.string()).default([]),
  modalities: z.array(z.string()).default([]),
  models: z.array(z.string()).default([]),
});

export type EngineHandshake = z.output<typeof handshakeSchema>;

export const modelsSchema = z.looseObject({ models: z.array(z.string()) });

const TOOL_CALLS_MAX = 10_000;

const usageSchema = tokenUsageSchema.loose();

export const chatResultSchema = z.looseObject({
  message: z.looseObject({ role: z.string().default('assistant') }),
  finish_reason: ifPresent(z.string()),
  usage: ifPresent(usageSchema),
});

export type EngineChatResult = z.output<typeof chatResultSchema>;

export const chatStartedSchema = z.looseObject({ chat_id: z.string() });

export const chatChunkSchema = z.looseObject({
  chat_id: z.string(),
  delta: ifPresent(z.string()),
  tool_calls: ifPresent(z.array(z.unknown()).max(TOOL_CALLS_MAX)),
  done: z.boolean().default(false),
  finish_reason: ifPresent(z.string()),
  usage: ifPresent(usageSchema),
  error: ifPresent(z.union([z.string(), z.looseObject({ message: z.string() })])),
});

export type EngineChatChunk = z.output<typeof chatChunkSchema>;

export const embeddingsSchema = z.looseObject({
  /** The vectors, which are read in steps. */
  data: z.unknown(),
  usage: ifPresent(z.looseObject({ prompt_tokens: readWritten(z.int().nonnegative()) })),
});

/** Also the end of a session, which has only its id. */
export const realtimeStartedSchema = z.looseObject({ session: z.string() });

export const realtimeEventSchema = z.looseObject({ session: z.string(), event: z.unknown() });

/** Parses a result; another shape is a failure of the engine. */
export function readResult<Schema extends z.ZodType>(
  method: string,
  schema: Schema,
): (result: unknown) => z.output<Schema> {
  return (result) => {
    const parsed = schema.safeParse(result);
    if (parsed.success) return parsed.data;
    throw unreadable(method);
  };
}

/** The failure of an engine whose result has another shape. */
export function unreadable(method: string): UpstreamFailure {
  return upstreamFailed(`the engine answered ${method} with an invalid result`);
}
