import { tryParseJson } from '@model-gateway/kernel';
import { z } from 'zod';

const LEVELS = ['error', 'warning', 'info', 'debug'] as const;
const SOURCES = ['console', 'exception', 'network', 'worker', 'security'] as const;
const headers = z.record(z.string(), z.string()).default({});

/** The events of an engine; include/browser_engine.h describes the same fields. */
const eventShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('console'),
    level: z.enum(LEVELS).catch('info'),
    text: z.string(),
    source: z.enum(SOURCES).catch('console'),
    url: z.string().default(''),
    line: z.number().nullable().default(null),
    column: z.number().nullable().default(null),
    stack: z.string().optional(),
  }),
  z.object({
    type: z.literal('network'),
    id: z.string(),
    event: z.enum(['started', 'finished', 'failed']),
    url: z.string().default(''),
    method: z.string().default('GET'),
    resource: z.string().default('other'),
    status: z.number().nullable().default(null),
    size: z.number().default(0),
    error: z.string().default('failed'),
    request_headers: headers,
    response_headers: headers,
    post_data: z.string().nullable().default(null),
  }),
  z.object({
    type: z.literal('websocket'),
    id: z.string(),
    event: z.enum(['created', 'opened', 'frame', 'closed', 'failed']),
    url: z.string().default(''),
    direction: z.enum(['sent', 'received']).default('received'),
    opcode: z.number().default(1),
    payload: z.string().default(''),
    error: z.string().default('failed'),
  }),
  z.object({
    type: z.literal('dialog'),
    kind: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']),
    message: z.string().default(''),
    action: z.enum(['accepted', 'dismissed']),
  }),
  z.object({ type: z.literal('navigated'), url: z.string() }),
  z.object({ type: z.literal('crashed'), reason: z.string().default('no reason given') }),
]);

/** Something that an engine reports by itself. */
export type EngineEvent = z.output<typeof eventShape>;

/** Parses an event of an engine; undefined if it is invalid. */
export function parseEvent(json: string): EngineEvent | undefined {
  return eventShape.safeParse(tryParseJson(json)).data;
}
