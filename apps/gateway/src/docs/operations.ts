import {
  aliasChangedSchema,
  aliasListSchema,
  aliasRemovalSchema,
  aliasRequestSchema,
  backendListSchema,
  backendRegisteredSchema,
  backendRemovalSchema,
  backendRemovedSchema,
  backendRequestSchema,
  chatCompletionSchema,
  chatRequestSchema,
  embeddingListSchema,
  embeddingsRequestSchema,
  modelListSchema,
  usageAnswerSchema,
  usageQuerySchema,
  videoJobSchema,
  videoRequestSchema,
  videoSubmittedSchema,
} from '@model-gateway/contracts';
import { z } from 'zod';

/** One thing that can be asked of the HTTP surface. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Any one of these will do; none means that it is public. */
  readonly security: readonly ('apiKey' | 'accessToken' | 'adminToken')[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: z.ZodType;
  readonly response: z.ZodType;
  /** What is answered instead while the process stops. */
  readonly draining?: z.ZodType;
  /** Answers with events when it is asked to. */
  readonly streams?: boolean;
  /** Refuses credentials and too many requests in plain text. */
  readonly plainRefusals?: boolean;
}

const health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  build_hash: z.string(),
  models: z.int(),
  providers: z.array(z.string()),
  checks: z.record(z.string(), z.enum(['ok', 'away'])),
});

const draining = z.object({ status: z.literal('draining') });

const referenceHeader = {
  'x-service-ref': 'A reference of at most 64 characters that the usage is attributed to.',
};

const inference: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'A chat turn, streamed or not.',
    security: ['apiKey'],
    headers: referenceHeader,
    request: chatRequestSchema,
    response: chatCompletionSchema,
    streams: true,
    plainRefusals: true,
  },
  {
    method: 'post',
    path: '/v1/embeddings',
    summary: 'Vectors of texts.',
    security: ['apiKey'],
    headers: referenceHeader,
    request: embeddingsRequestSchema,
    response: embeddingListSchema,
    plainRefusals: true,
  },
  {
    method: 'post',
    path: '/v1/video/generations',
    summary: 'Submit a video job; its progress is told on the event stream of its id.',
    security: ['apiKey'],
    headers: {
      'idempotency-key': 'At most 200 characters; the same one again makes no second job.',
    },
    request: videoRequestSchema,
    response: videoSubmittedSchema,
    plainRefusals: true,
  },
  {
    method: 'get',
    path: '/v1/video/generations/{id}',
    summary: 'A video job.',
    security: ['apiKey'],
    response: videoJobSchema,
    plainRefusals: true,
  },
  {
    method: 'get',
    path: '/v1/models',
    summary: 'The models that can be asked for.',
    security: ['apiKey', 'accessToken'],
    response: modelListSchema,
    plainRefusals: true,
  },
  {
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One of the models that can be asked for.',
    security: ['apiKey', 'accessToken'],
    response: modelListSchema.shape.data.element,
    plainRefusals: true,
  },
  {
    method: 'get',
    path: '/v1/health',
    summary: 'Whether the service is up.',
    security: [],
    response: health,
  },
];

const probes: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/health',
    summary: 'The same as /v1/health.',
    security: [],
    response: health,
  },
  {
    method: 'get',
    path: '/healthz',
    summary: 'The same as /v1/health: whether the process is to be started anew.',
    security: [],
    response: health,
  },
  {
    method: 'get',
    path: '/readyz',
    summary: 'The same as /v1/health: whether the process is to be given requests.',
    security: [],
    response: health,
    draining,
  },
];

const administration: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/admin/backends',
    summary: 'The backends, how they are, and what they serve.',
    security: ['adminToken'],
    response: backendListSchema,
  },
  {
    method: 'post',
    path: '/api/admin/backends',
    summary: 'Register a backend.',
    security: ['adminToken'],
    request: backendRequestSchema,
    response: backendRegisteredSchema,
  },
  {
    method: 'delete',
    path: '/api/admin/backends',
    summary: 'Remove a backend.',
    security: ['adminToken'],
    request: backendRemovalSchema,
    response: backendRemovedSchema,
  },
  {
    method: 'get',
    path: '/api/admin/aliases',
    summary: 'Other names for models.',
    security: ['adminToken'],
    response: aliasListSchema,
  },
  {
    method: 'post',
    path: '/api/admin/aliases',
    summary: 'Give a model another name.',
    security: ['adminToken'],
    request: aliasRequestSchema,
    response: aliasChangedSchema,
  },
  {
    method: 'delete',
    path: '/api/admin/aliases',
    summary: 'Take a name back.',
    security: ['adminToken'],
    request: aliasRemovalSchema,
    response: aliasChangedSchema,
  },
  {
    method: 'post',
    path: '/api/admin/usage/query',
    summary: "What everybody's usage adds up to.",
    security: ['adminToken'],
    request: usageQuerySchema,
    response: usageAnswerSchema,
  },
];

/** Everything that the gateway serves. */
export const OPERATIONS: readonly Operation[] = [...inference, ...probes, ...administration];
