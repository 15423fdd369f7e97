import { z } from 'zod';
import { entrySource } from '../entry-source.ts';
import { anyObject } from '../open-object.ts';
import { isStorable, isStorableText } from '../storable.ts';

/** The capabilities that a backend can declare. */
export const capability = z.enum([
  'chat',
  'embeddings',
  'video',
  'realtime',
  'invoke',
  'completions',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcription',
]);

/** The APIs besides chat completions that an upstream can speak. */
const dialect = z.enum(['responses']);

/** A text that fits into a header and a log line. */
const oneLine = (charsMax: number) =>
  z
    .string()
    .trim()
    .max(charsMax)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .refine(isStorableText, UNSTORABLE);

const UNSTORABLE = 'must not contain NUL characters and lone surrogates';

/** An id of a model, as the upstream has it. */
const modelText = z.string().min(1).max(128).refine(isStorableText, UNSTORABLE);

const TYPE_DEFAULT = 'local-server';
const URL_DEFAULT = 'http://localhost:11434';

/** The name of a backend; usage rows, routes and metrics refer to it. */
export const backendName = oneLine(64).min(1);
const type = z.string().min(1).max(64).refine(isStorableText, UNSTORABLE);
const url = z.string().min(1).max(2048).refine(isStorableText, UNSTORABLE);
const apiKey = oneLine(4096);
const API_KEYS_MAX = 32;
/** Used in turn; one that the upstream refuses, or whose rate limit is reached, rests alone. */
const apiKeys = z.array(apiKey.min(1)).min(1).max(API_KEYS_MAX);
/** A header name, and optionally a colon and what comes before the key. */
const AUTH_HEADER = /^[\w!#$%&'*+.^`|~-]{1,64}(?:: ?[\x21-\x7e]{1,64})?$/;
/** Headers that the service or its HTTP client sets. */
const RESERVED_HEADER =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|traceparent|tracestate)(?::|$)/i;
const authHeader = z
  .string()
  .trim()
  .regex(AUTH_HEADER, "must be a header name, as 'api-key', or 'authorization: Bearer'")
  .refine((text) => !RESERVED_HEADER.test(text), 'must not be a header that HTTP itself needs');
const models = z.array(modelText).max(1000);
const capabilities = z.array(capability).min(1).max(capability.options.length);
const dialects = z.array(dialect).max(dialect.options.length);

const LIMIT_MAX = 1_000_000_000;
const limit = z.int().min(1).max(LIMIT_MAX);

/** What a backend may be sent, over all replicas; what is absent or null does not limit it. */
const limits = z.strictObject({
  /** Requests per minute. */
  rpm: limit.nullish(),
  /** Tokens per minute. */
  tpm: limit.nullish(),
  /** Requests at the same time. */
  concurrency: limit.nullish(),
  /** Tokens per day in UTC. */
  tokens_per_day: limit.nullish(),
});

/** The fields of a registration that only some kinds take, with what forms call them. */
export const backendOptionsSchema = z
  .object({
    auth_header: authHeader.meta({
      title: 'Header of the key',
      description: 'Such as api-key. Leave it empty for the usual one.',
    }),
    api_keys: apiKeys.meta({
      title: 'API keys',
      description: 'Several keys, which requests use in turn.',
    }),
    dialects: dialects.meta({
      title: 'Other APIs',
      description: 'Requests of these APIs are passed on unchanged.',
    }),
  })
  .partial();

/** JSON Schema of one of them. */
const optionSchema = z.looseObject({ title: z.string(), description: z.string() });

/** A kind of backend: what registers one, and what a form says of it. */
export const backendKindSchema = z.object({
  /** What `type` of a registration names. */
  name: z.string(),
  /** Other values of `type` that mean the same. */
  aliases: z.array(z.string()),
  /** Whether only the service itself registers it, as for models on GPU nodes. */
  is_internal: z.boolean(),
  title: z.string(),
  /** What it is for, in one line. */
  purpose: z.string(),
  /** An address of this kind. */
  example_url: z.string(),
  /** How an address may begin; encrypted connections first. */
  url_prefixes: z.array(z.string()),
  /** Each kind takes a key; servers of some rarely have one. */
  api_key: z.object({ title: z.string(), is_usual: z.boolean() }),
  /** Whether it cannot list its models, so that they must be given. */
  needs_models: z.boolean(),
  /** What a registration may declare. */
  capabilities: z.array(capability),
  /** Which of them a form offers; none where the kind decides. */
  offered_capabilities: z.array(capability),
  /** JSON Schema of the fields of a registration that not every kind takes. */
  options: z.looseObject({
    properties: z
      .object({
        auth_header: optionSchema,
        api_keys: optionSchema,
        dialects: optionSchema.extend({ items: z.looseObject({ enum: z.array(dialect) }) }),
      })
      .partial(),
  }),
  facts: z.object({
    /** Its models cost nothing, unless they have a price of their own. */
    is_free: z.boolean(),
    /** It serves only the models that it lists. */
    lists_all: z.boolean(),
    /** Inputs may be token ids. */
    takes_token_ids: z.boolean(),
    /** What it reports as usage is believed only as far as it can be. */
    is_bounded: z.boolean(),
  }),
});

/** The body of `POST /api/admin/backends`; every field is optional. */
export const backendRequestSchema = z.object({
  type: type
    .nullish()
    .meta({ default: TYPE_DEFAULT })
    .transform((given) => given ?? TYPE_DEFAULT),
  url: url
    .nullish()
    .meta({ default: URL_DEFAULT })
    .transform((given) => given ?? URL_DEFAULT),
  api_key: apiKey.nullish(),
  api_keys: apiKeys.nullish(),
  auth_header: authHeader.nullish().meta({ default: 'authorization: Bearer' }),
  name: backendName.nullish(),
  models: models.nullish(),
  capabilities: capabilities.nullish(),
  dialects: dialects.nullish(),
  limits: limits.nullish(),
  /** Sent by older clients; no backend uses it. */
  workflow: anyObject().refine(isStorable, UNSTORABLE).nullish().meta({ deprecated: true }),
});

/** A backend that an RPC call describes: the same fields, without defaults for what makes it another one. */
export const backendAdditionSchema = backendRequestSchema
  .omit({ workflow: true })
  .extend({ name: backendName, type, url });

/** The body of `PATCH /api/admin/backends/by-name/{name}`: what is absent stays, and null removes. */
export const backendChangeSchema = z.object({
  type: type.optional(),
  url: url.optional(),
  api_key: apiKey.nullish(),
  /** Replaces `api_key` and all keys before. */
  api_keys: apiKeys.nullish(),
  auth_header: authHeader.nullish(),
  models: models.nullish(),
  capabilities: capabilities.nullish(),
  dialects: dialects.nullish(),
  /** Replaces all limits. */
  limits: limits.nullish(),
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
  message: z.enum(['backend registered', 'backend changed']),
  name: z.string(),
  type: z.string(),
  url: z.string(),
  index: z.int(),
  ...backendHealth,
  /** What the request changed besides, such as a key that it did not keep; absent without one. */
  warnings: z.array(z.string()).optional(),
});

const circuitState = z.enum(['closed', 'open', 'half-open']);

const backendEntry = {
  label: z.string(),
  ...backendHealth,
  name: z.string(),
  source: entrySource,
  type: z.string(),
  circuit: circuitState,
  /** The circuits of single operations, such as `embeddings`, that are not closed; absent without one. */
  operation_circuits: z.record(z.string(), circuitState).optional(),
  models: z.array(z.string()),
  /** The APIs besides chat completions whose requests it gets unchanged. */
  dialects: z.array(dialect),
  /** What it may be sent, over all replicas; null where nothing limits it. */
  limits: z
    .object({
      rpm: z.int().nullable(),
      tpm: z.int().nullable(),
      concurrency: z.int().nullable(),
      tokens_per_day: z.int().nullable(),
    })
    .nullable(),
};

/** The response of `GET /api/admin/backends`. */
export const backendListSchema = z.object({
  backends: z.object({
    /** The number of healthy backends. */
    count: z.int(),
    health: z.array(z.object(backendEntry)),
  }),
  /** Every model id that can be routed. */
  models: z.array(z.string()),
});

/** The response of `GET /api/admin/backends/by-name/{name}`. */
export const backendViewSchema = z.object({
  ...backendEntry,
  index: z.int(),
  url: z.string(),
  has_api_key: z.boolean(),
  /** How many keys it has. */
  api_key_count: z.int(),
  /** The header of the key; null for the default, `authorization: Bearer`. */
  auth_header: z.string().nullable(),
  /** The models of the registration. */
  static_models: z.array(z.string()),
  capabilities: z.array(capability),
});

/** The body of `POST /api/admin/backends/by-name/{name}/test`. */
export const backendTestRequestSchema = z.object({
  /** The model to chat with; by default the first one that seems to be a chat model. */
  model: z.string().min(1).max(128).nullish(),
});

/** The response of `POST /api/admin/backends/by-name/{name}/test`. */
export const backendTestSchema = z.object({
  /** `ok` if the backend is Healthy and the chat, where there was one, was answered. */
  status: z.enum(['ok', 'failed']),
  name: z.string(),
  type: z.string(),
  probe: z.object({ ...backendHealth, latency_ms: z.int() }),
  chat: z.object({
    status: z.enum(['ok', 'failed', 'skipped']),
    /** Why it failed or was skipped. */
    reason: z.string().nullable(),
    model: z.string().nullable(),
    latency_ms: z.int().nullable(),
    /** The beginning of the answer. */
    text: z.string().nullable(),
  }),
});

/** The body of `DELETE /api/admin/backends`: the position in registration order. */
export const backendRemovalSchema = z.object({ index: z.int() });

/** The response to removing a backend. */
export const backendRemovedSchema = z.object({
  status: z.literal('ok'),
  message: z.literal('backend removed'),
});
