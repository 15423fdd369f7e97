import {
  auditEntry,
  aliasChangedSchema,
  aliasListSchema,
  aliasRemovalSchema,
  aliasRequestSchema,
  backendChangeSchema,
  backendListSchema,
  backendRegisteredSchema,
  backendRemovalSchema,
  backendRemovedSchema,
  backendRequestSchema,
  backendTestRequestSchema,
  backendTestSchema,
  backendViewSchema,
  chatCompletionSchema,
  chatRequestSchema,
  completionsRequestSchema,
  embeddingListSchema,
  embeddingsRequestSchema,
  imagesAnswerSchema,
  imagesRequestSchema,
  modelEntrySchema,
  modelListSchema,
  moderationsAnswerSchema,
  moderationsRequestSchema,
  rerankAnswerSchema,
  rerankRequestSchema,
  routeExplanationSchema,
  speechRequestSchema,
  textCompletionSchema,
  transcriptionSchema,
  uploadFormSchema,
  usageQueryResultSchema,
  usageQuerySchema,
  videoJobSchema,
  videoRequestSchema,
  videoSubmittedSchema,
} from '@model-gateway/contracts';
import { messagesBodySchema } from '@model-gateway/dialects';
import { z } from 'zod';
import { inferenceHeaders, type Operation } from './operation.ts';
import { responsesOperations } from './responses-operations.ts';

export type { Operation };

const health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  build_hash: z.string(),
  models: z.int(),
  providers: z.array(z.string()),
  checks: z.record(z.string(), z.enum(['ok', 'away'])),
});

const draining = z.object({ status: z.literal('draining') });

const message = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});

const backendExample = {
  type: 'external',
  name: 'my-backend',
  url: 'https://models.example.com/v1',
  api_key: 'the key of the upstream',
};

const binary = z.file();

/** An API that passes to backends with its capability. */
const passed = {
  method: 'post',
  security: ['apiKey'],
  headers: inferenceHeaders,
  plainRefusals: true,
} as const;

const inference: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'A chat turn, streamed or not.',
    security: ['apiKey'],
    headers: inferenceHeaders,
    request: chatRequestSchema,
    example: {
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'Say hello in five words.' }],
    },
    response: chatCompletionSchema,
    streams: true,
    plainRefusals: true,
  },
  {
    method: 'post',
    path: '/v1/messages',
    summary: 'A chat turn in the form of the Messages API, streamed or not.',
    security: ['apiKey'],
    headers: inferenceHeaders,
    request: messagesBodySchema,
    response: message,
    streams: true,
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    summary: 'An estimate of the tokens of a request in the form of the Messages API; free.',
    security: ['apiKey'],
    request: messagesBodySchema,
    response: z.object({ input_tokens: z.int() }),
  },
  ...responsesOperations,
  {
    method: 'post',
    path: '/v1/embeddings',
    summary: 'Embedding vectors of texts.',
    security: ['apiKey'],
    headers: inferenceHeaders,
    request: embeddingsRequestSchema,
    example: { model: 'demo-embed', input: 'A boat on a calm sea.' },
    response: embeddingListSchema,
    plainRefusals: true,
  },
  ...[
    {
      path: '/v1/completions',
      summary: 'A text completion, streamed or not.',
      request: completionsRequestSchema,
      response: textCompletionSchema,
      streams: true,
    },
    {
      path: '/v1/rerank',
      summary: 'Sort documents by their relevance for a query.',
      request: rerankRequestSchema,
      response: rerankAnswerSchema,
    },
    {
      path: '/v1/moderations',
      summary: 'Classify texts and images as harmful or not.',
      request: moderationsRequestSchema,
      response: moderationsAnswerSchema,
    },
    {
      path: '/v1/images/generations',
      summary: 'Images from a text.',
      request: imagesRequestSchema,
      response: imagesAnswerSchema,
      streams: true,
    },
    {
      path: '/v1/audio/speech',
      summary: 'Speech from a text.',
      request: speechRequestSchema,
      response: binary,
      responseType: 'audio/*',
    },
    {
      path: '/v1/audio/transcriptions',
      summary: 'The text of an audio file.',
      request: uploadFormSchema,
      requestType: 'multipart/form-data',
      response: transcriptionSchema,
      streams: true,
    },
    {
      path: '/v1/audio/translations',
      summary: 'The text of an audio file, in English.',
      request: uploadFormSchema,
      requestType: 'multipart/form-data',
      response: transcriptionSchema,
    },
  ].map((operation) => ({ ...passed, ...operation })),
  {
    method: 'post',
    path: '/v1/video/generations',
    summary: 'Submit a video job; progress is published on the event stream with the job id.',
    security: ['apiKey'],
    headers: {
      'idempotency-key': 'At most 200 characters; repeating the same value creates no second job.',
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
    summary: 'List the available models.',
    security: ['apiKey', 'accessToken'],
    response: modelListSchema,
    plainRefusals: true,
  },
  {
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One available model.',
    security: ['apiKey', 'accessToken'],
    response: modelEntrySchema,
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
    path: '/health',
    summary: 'The same as /v1/health.',
    security: [],
    response: health,
  },
  {
    method: 'get',
    path: '/healthz',
    summary: 'The same as /v1/health; use it as a liveness probe.',
    security: [],
    response: health,
  },
  {
    method: 'get',
    path: '/readyz',
    summary: 'The same as /v1/health; use it as a readiness probe.',
    security: [],
    response: health,
    draining,
  },
];

const administration: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/admin/backends',
    summary: 'List the backends with their health and models.',
    security: ['adminToken'],
    response: backendListSchema,
  },
  {
    method: 'post',
    path: '/api/admin/backends',
    summary: 'Register a backend.',
    security: ['adminToken'],
    request: backendRequestSchema,
    example: backendExample,
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
    path: '/api/admin/backends/by-name/{name}',
    summary: 'One backend with its health, models and registration.',
    security: ['adminToken'],
    response: backendViewSchema,
  },
  {
    method: 'put',
    path: '/api/admin/backends/by-name/{name}',
    summary: 'Register a backend under this name, or replace it.',
    security: ['adminToken'],
    request: backendRequestSchema,
    example: backendExample,
    response: backendRegisteredSchema,
  },
  {
    method: 'patch',
    path: '/api/admin/backends/by-name/{name}',
    summary: 'Change fields of a registration.',
    security: ['adminToken'],
    request: backendChangeSchema,
    response: backendRegisteredSchema,
  },
  {
    method: 'delete',
    path: '/api/admin/backends/by-name/{name}',
    summary: 'Remove a backend by its name.',
    security: ['adminToken'],
    response: backendRemovedSchema,
  },
  {
    method: 'post',
    path: '/api/admin/backends/by-name/{name}/test',
    summary: 'Probe a backend and send it a short chat.',
    security: ['adminToken'],
    request: backendTestRequestSchema,
    response: backendTestSchema,
  },
  {
    method: 'get',
    path: '/api/admin/aliases',
    summary: 'List the model aliases.',
    security: ['adminToken'],
    response: aliasListSchema,
  },
  {
    method: 'post',
    path: '/api/admin/aliases',
    summary: 'Add an alias for a model.',
    security: ['adminToken'],
    request: aliasRequestSchema,
    response: aliasChangedSchema,
  },
  {
    method: 'delete',
    path: '/api/admin/aliases',
    summary: 'Remove an alias.',
    security: ['adminToken'],
    request: aliasRemovalSchema,
    response: aliasChangedSchema,
  },
  {
    method: 'get',
    path: '/api/admin/route',
    summary:
      'Where a request for `model` would go now, and why not elsewhere; with `key`, the id of an API key, its rules count. `capability` and `provider` narrow it.',
    security: ['adminToken'],
    response: routeExplanationSchema,
  },
  {
    method: 'post',
    path: '/api/admin/usage/query',
    summary: 'Sum up the usage of all users.',
    security: ['adminToken'],
    request: usageQuerySchema,
    response: usageQueryResultSchema,
  },
  {
    method: 'get',
    path: '/api/admin/audit',
    summary:
      'Export the audit log, one JSON object per line, the oldest first; `from`, `to` and `after` (a `seq`) limit it.',
    security: ['adminToken'],
    response: auditEntry,
    responseType: 'application/x-ndjson',
  },
];

/** All operations of the gateway. */
export const OPERATIONS: readonly Operation[] = [...inference, ...probes, ...administration];
