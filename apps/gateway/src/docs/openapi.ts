import { restErrorSchema } from '@model-gateway/contracts';
import { SERVICE_VERSION } from '@model-gateway/http';
import { z } from 'zod';
import { exampleOf } from './example.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { SECURITY_SCHEMES } from './security-schemes.ts';

const PATH_PARAMETER = /\{(\w+)\}/g;

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
      description:
        'One OpenAI-compatible API for every model backend. A key comes from `auth.register` and `keys.create` of the [JSON-RPC API](/docs/rpc).',
    },
    ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
    tags: [{ name: 'Inference' }, { name: 'Administration' }, { name: 'Health' }],
    paths,
    components: { securitySchemes: SECURITY_SCHEMES },
  };
}

function describe(operation: Operation): Record<string, unknown> {
  const { summary, security, request, response, draining, headers = {}, plainRefusals } = operation;
  const parameters = [
    ...[...operation.path.matchAll(PATH_PARAMETER)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    summary,
    tags: [tagOf(operation.path)],
    security: security.map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: requestContent(operation, request) } }),
    responses: {
      200: { description: 'Success.', content: contentOf(operation, response) },
      ...(plainRefusals === true
        ? {
            401: { description: 'No valid credential.', content: textContent },
            429: {
              description: 'Too many requests.',
              content: { ...textContent, ...errorContent() },
            },
          }
        : {}),
      ...(draining === undefined
        ? {}
        : {
            503: {
              description: 'The process is shutting down.',
              content: jsonContent(draining, 'output'),
            },
          }),
      default: { description: 'Refused or failed.', content: errorContent() },
    },
  };
}

function tagOf(path: string): string {
  if (path.startsWith('/api/admin/')) return 'Administration';
  return path.startsWith('/v1/') && path !== '/v1/health' ? 'Inference' : 'Health';
}

function requestContent(
  { example, requestType }: Operation,
  request: z.ZodType,
): Record<string, unknown> {
  if (requestType !== undefined) return bodyContent(request, 'input', requestType);
  const schema = jsonSchema(request, 'input');
  return { 'application/json': { schema, example: example ?? exampleOf(schema) } };
}

const textContent = { 'text/plain': { schema: { type: 'string' } } };

const errorContent = () => jsonContent(restErrorSchema, 'output');

function contentOf(
  { streams, responseType }: Operation,
  response: z.ZodType,
): Record<string, unknown> {
  const json = bodyContent(response, 'output', responseType);
  if (streams !== true) return json;
  const events = { type: 'string', description: 'One `data:` line per chunk, then `[DONE]`.' };
  return { ...json, 'text/event-stream': { schema: events } };
}

const jsonContent = (schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> =>
  bodyContent(schema, io);

function bodyContent(
  schema: z.ZodType,
  io: 'input' | 'output',
  type = 'application/json',
): Record<string, unknown> {
  return { [type]: { schema: jsonSchema(schema, io) } };
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    // The bounds that every integer has say nothing, and would become examples.
    override: ({ jsonSchema: described }) => {
      if (described.minimum === Number.MIN_SAFE_INTEGER) delete described.minimum;
      if (described.maximum === Number.MAX_SAFE_INTEGER) delete described.maximum;
    },
  });
