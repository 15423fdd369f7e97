import { SERVICE_VERSION } from '@model-gateway/http';
import { componentSchemas, inlineSchema, type ComponentSchemas } from './component-schemas.ts';
import { exampleOf } from './example.ts';
import { DESCRIBED_OPERATIONS } from '../operations/all.ts';
import type { Operation } from '../operations/operation.ts';
import { errorsOf, refusalsOf } from './refusals.ts';
import { SECURITY_SCHEMES } from './security-schemes.ts';

const PATH_PARAMETER = /\{(\w+)\}/g;
const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';

/** The address of the document itself, where the public one is not known. */
const OWN_SERVER = { url: '/', description: 'The address that served this description.' };

const TAGS = [
  { name: 'Inference', description: 'What applications call, with an API key.' },
  { name: 'Administration', description: 'What operators call, with the admin token.' },
  { name: 'Health', description: 'What orchestrators and monitors call.' },
] as const;

/** The OpenAPI description of the HTTP surface, from the same schemas that validate it. */
export function openApiDocument(publicUrl: string | undefined): Record<string, unknown> {
  const schemas = componentSchemas(DESCRIBED_OPERATIONS, errorsOf(DESCRIBED_OPERATIONS));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of DESCRIBED_OPERATIONS) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describe(operation, schemas),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model Gateway',
      version: SERVICE_VERSION,
      description:
        'One OpenAI-compatible API for every model backend. A key comes from `auth.register` and `keys.create` of the [JSON-RPC API](/docs/rpc).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [publicUrl === undefined ? OWN_SERVER : { url: publicUrl.replace(/\/+$/, '') }],
    tags: TAGS,
    paths,
    components: { schemas: schemas.named, securitySchemes: SECURITY_SCHEMES },
  };
}

function describe(operation: Operation, schemas: ComponentSchemas): Record<string, unknown> {
  const { id, summary, security, request, isBodyOptional, draining } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: id,
    summary,
    tags: [tagOf(operation.path)],
    security: security.map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: isBodyOptional !== true,
            content: requestContent(operation, schemas),
          },
        }),
    responses: {
      200: { description: 'Success.', content: responseContent(operation, schemas) },
      ...refusalsOf(operation, schemas),
      ...(draining === undefined
        ? {}
        : {
            503: {
              description: 'The process is shutting down.',
              content: { [JSON_TYPE]: { schema: schemas.of(draining, 'output') } },
            },
          }),
    },
  };
}

function parametersOf({ path, query, headers = {} }: Operation): readonly object[] {
  return [
    ...[...path.matchAll(PATH_PARAMETER)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...(query === undefined ? [] : queryParameters(inlineSchema(query, 'input'))),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
}

function queryParameters(schema: Readonly<Record<string, unknown>>): readonly object[] {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...described }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: described,
  }));
}

function tagOf(path: string): (typeof TAGS)[number]['name'] {
  if (path.startsWith('/api/admin/') || path === '/api/usage.csv') return 'Administration';
  return path.startsWith('/v1/') && path !== '/v1/health' ? 'Inference' : 'Health';
}

function requestContent(
  { request, example, requestType }: Operation,
  schemas: ComponentSchemas,
): Readonly<Record<string, object>> {
  if (request === undefined) return {};
  const schema = schemas.of(request, 'input');
  if (requestType !== undefined) return { [requestType]: { schema } };
  return { [JSON_TYPE]: { schema, example: example ?? exampleOf(schema, schemas.named) } };
}

function responseContent(
  { response, responseType = JSON_TYPE, streams }: Operation,
  schemas: ComponentSchemas,
): Readonly<Record<string, object>> {
  const described = schemas.of(response, 'output');
  const schema = responseType === LINES_TYPE ? linesOf(described) : described;
  const whole = { [responseType]: { schema } };
  if (streams === undefined) return whole;
  return { ...whole, 'text/event-stream': { schema: { type: 'string', description: streams } } };
}

/** A text whose lines have a schema each. */
const linesOf = (schema: object): object => ({
  type: 'string',
  description: 'One JSON object per line.',
  contentMediaType: LINES_TYPE,
  contentSchema: schema,
});
