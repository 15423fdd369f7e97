import {
  backendRegisteredSchema,
  backendRequestSchema,
  chatCompletionSchema,
  chatRequestSchema,
  restErrorSchema,
} from '@model-gateway/contracts';
import { SERVICE_VERSION } from '@model-gateway/http';
import { z } from 'zod';

interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  readonly security: 'apiKey' | 'adminToken' | 'none';
  readonly request?: z.ZodType;
  readonly response: z.ZodType;
}

const health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  build_hash: z.string(),
  models: z.int(),
  providers: z.array(z.string()),
  checks: z.record(z.string(), z.enum(['ok', 'away'])),
});

const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'A chat turn.',
    security: 'apiKey',
    request: chatRequestSchema,
    response: chatCompletionSchema,
  },
  {
    method: 'get',
    path: '/v1/health',
    summary: 'Whether the service is up.',
    security: 'none',
    response: health,
  },
  {
    method: 'post',
    path: '/api/admin/backends',
    summary: 'Register a backend.',
    security: 'adminToken',
    request: backendRequestSchema,
    response: backendRegisteredSchema,
  },
];

/** The OpenAPI description of the HTTP surface, from the same schemas that validate it. */
export function openApiDocument(publicUrl: string | undefined): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model Gateway',
      version: SERVICE_VERSION,
      description: 'One OpenAI-compatible door to every model backend.',
    },
    ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `service-<uuid>`.' },
        adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
      },
    },
  };
}

function describe({ summary, security, request, response }: Operation): Record<string, unknown> {
  return {
    summary,
    security: security === 'none' ? [] : [{ [security]: [] }],
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(request, 'input') } }),
    responses: {
      200: { description: 'Done.', content: jsonContent(response, 'output') },
      default: {
        description: 'Refused or failed.',
        content: jsonContent(restErrorSchema, 'output'),
      },
    },
  };
}

function jsonContent(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  return {
    'application/json': { schema: z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) },
  };
}
