import {
  openRpcDocument,
  type OpenRpcDocument,
  type RpcMethodName,
} from '@model-gateway/contracts';
import { exampleOf } from './example.ts';
import { SECURITY_SCHEMES } from './security-schemes.ts';

type MethodDescription = OpenRpcDocument['methods'][number];
type AuthLevel = MethodDescription['x-auth'];

const RPC_PATH = '/api/rpc';

const SECURITY: Readonly<Record<AuthLevel, readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  public: [],
  jwt: ['accessToken'],
  admin: ['accessToken'],
  'admin-token': ['adminToken'],
  'admin-or-admin-token': ['accessToken', 'adminToken'],
  'jwt-or-admin-token': ['accessToken', 'adminToken'],
};

const conversation = { conversation_id: '00000000-0000-4000-8000-000000000000' };

/** Params to begin with, where the required ones alone do not make a useful call. */
const PARAMS: Readonly<Partial<Record<RpcMethodName, unknown>>> = {
  'chat.send': {
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Say hello in five words.' }],
  },
  'conversations.delete': conversation,
  'conversations.get': conversation,
  'webhooks.create': { url: 'https://hooks.example.com/gateway', events: ['budget.threshold'] },
};

const DESCRIPTION =
  'Every method is a POST to `/api/rpc`; the part of the path behind `#` only names the method here. ' +
  'Where RPC is a process of its own, open this page at the address that serves both. ' +
  'Notifications arrive on the event stream, `/api/rpc/events`.';

/** The RPC methods as OpenAPI, one operation each, so that one viewer shows and tries both APIs. */
export function rpcOpenApiDocument(version: string): Record<string, unknown> {
  const { methods, components } = openRpcDocument({ version });
  const { schemas } = components;
  return {
    openapi: '3.1.0',
    info: { title: 'Model Gateway RPC', version, description: DESCRIPTION },
    tags: [...new Set(methods.map(tagOf))].map((name) => ({ name })),
    paths: Object.fromEntries(
      methods.map((method) => [
        `${RPC_PATH}#${method.name}`,
        { post: operationOf(method, schemas) },
      ]),
    ),
    components: {
      schemas,
      securitySchemes: {
        accessToken: SECURITY_SCHEMES.accessToken,
        adminToken: SECURITY_SCHEMES.adminToken,
      },
    },
  };
}

const paramsOf = (name: string): unknown => (PARAMS as Readonly<Record<string, unknown>>)[name];

/** The part of a name before its first dot. */
const tagOf = ({ name }: MethodDescription): string => name.replace(/\..*$/, '');

function operationOf(
  method: MethodDescription,
  schemas: OpenRpcDocument['components']['schemas'],
): Record<string, unknown> {
  const params = {
    type: 'object',
    properties: Object.fromEntries(method.params.map(({ name, schema }) => [name, schema])),
    required: method.params.filter(({ required }) => required).map(({ name }) => name),
  };
  const example = {
    jsonrpc: '2.0',
    id: 1,
    method: method.name,
    params: paramsOf(method.name) ?? exampleOf(params, schemas),
  };
  return {
    operationId: method.name,
    summary: method.summary,
    tags: [tagOf(method)],
    security: SECURITY[method['x-auth']].map((scheme) => ({ [scheme]: [] })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: messageSchema({ method: { const: method.name }, params }),
          example,
        },
      },
    },
    responses: {
      200: {
        description: 'The result, or an error.',
        content: {
          'application/json': {
            schema: {
              oneOf: [
                messageSchema({ result: method.result.schema }),
                messageSchema({ error: ERROR_SCHEMA }),
              ],
            },
          },
        },
      },
    },
  };
}

const ERROR_SCHEMA = {
  type: 'object',
  properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
  required: ['code', 'message'],
};

function messageSchema(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    type: 'object',
    properties: { jsonrpc: { const: '2.0' }, id: { type: ['integer', 'string'] }, ...fields },
    required: ['jsonrpc', 'id', ...Object.keys(fields)],
  };
}
