import { z } from 'zod';
import { anyObject } from '../open-object.ts';

/** The capabilities that a backend can declare. */
const capability = z.enum(['chat', 'embeddings', 'video', 'realtime', 'invoke']);

/** A text that fits into a header and a log line. */
const oneLine = (charsMax: number) =>
  z
    .string()
    .trim()
    .max(charsMax)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters');

const TYPE_DEFAULT = 'local-server';
const URL_DEFAULT = 'http://localhost:11434';

/** The body of `POST /api/admin/backends`; every field is optional. */
export const backendRequestSchema = z.object({
  type: z
    .string()
    .min(1)
    .max(64)
    .nullish()
    .meta({ default: TYPE_DEFAULT })
    .transform((type) => type ?? TYPE_DEFAULT),
  url: z
    .string()
    .min(1)
    .max(2048)
    .nullish()
    .meta({ default: URL_DEFAULT })
    .transform((url) => url ?? URL_DEFAULT),
  api_key: oneLine(4096).nullish(),
  name: oneLine(64).min(1).nullish(),
  models: z.array(z.string().min(1).max(128)).max(1000).nullish(),
  capabilities: z.array(capability).min(1).max(capability.options.length).nullish(),
  /** Sent by older clients; no backend uses it. */
  workflow: anyObject().nullish().meta({ deprecated: true }),
});

/** The health of a backend. */
const backendHealth = {
  state: z.enum(['Healthy', 'Degraded', 'Unhealthy']),
  /** Why it is not Healthy, or what is known only in part. */
  reason: z.string().nullable(),
  /** When it was probed last (RFC 3339); null before the first probe. */
  checked_at: z.string().nullable(),
};

/** The response to registering a backend. */
export const backendRegisteredSchema = z.object({
  status: z.literal('ok'),
  message: z.literal('backend registered'),
  name: z.string(),
  type: z.string(),
  url: z.string(),
  index: z.int(),
  ...backendHealth,
});

/** The response of `GET /api/admin/backends`. */
export const backendListSchema = z.object({
  backends: z.object({
    /** The number of healthy backends. */
    count: z.int(),
    health: z.array(
      z.object({
        label: z.string(),
        ...backendHealth,
        name: z.string(),
        type: z.string(),
        circuit: z.enum(['closed', 'open', 'half-open']),
        models: z.array(z.string()),
      }),
    ),
  }),
  /** Every model id that can be routed. */
  models: z.array(z.string()),
});

/** The body of `DELETE /api/admin/backends`: the position in registration order. */
export const backendRemovalSchema = z.object({ index: z.int() });

/** The response to removing a backend. */
export const backendRemovedSchema = z.object({
  status: z.literal('ok'),
  message: z.literal('backend removed'),
});
