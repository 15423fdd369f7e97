import { z } from 'zod';
import { jsonSchemas, type JsonSchema } from './json-schemas.ts';
import type { AuthLevel, MethodContract } from './method.ts';
import { rpcMethods } from './methods.ts';
import { rpcNotifications } from './notifications.ts';

/** The newest version that clients of the official generator can have. */
const OPENRPC_VERSION = '1.2.6';

/** The description of a parameter or result. */
interface ContentDescriptor {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface MethodDescription {
  readonly name: string;
  readonly summary: string;
  readonly paramStructure: 'by-name';
  readonly params: readonly ContentDescriptor[];
  readonly result: ContentDescriptor;
  readonly 'x-auth': AuthLevel;
  /** A method that the specification does not contain. */
  readonly 'x-extension'?: true;
}

/** An OpenRPC description of the management plane. */
export interface OpenRpcDocument {
  readonly openrpc: typeof OPENRPC_VERSION;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers?: readonly { readonly name: string; readonly url: string }[];
  readonly methods: readonly MethodDescription[];
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly errors: Readonly<Record<string, { readonly code: number; readonly message: string }>>;
  };
  readonly 'x-notifications': readonly {
    readonly name: string;
    readonly summary: string;
    readonly emittedBy: readonly string[];
    readonly params: JsonSchema;
  }[];
}

/** The description of every RPC error code. */
const RPC_ERRORS = {
  PARSE_ERROR: { code: -32_700, message: 'The message is not valid JSON.' },
  INVALID_REQUEST: {
    code: -32_600,
    message: 'The message is not a JSON-RPC 2.0 request, or it is too large.',
  },
  METHOD_NOT_FOUND: {
    code: -32_601,
    message: 'The method does not exist; the message names it.',
  },
  INVALID_PARAMS: {
    code: -32_602,
    message:
      'The params are invalid; the message names the first invalid field, `data.issues` lists all.',
  },
  INTERNAL_ERROR: {
    code: -32_603,
    message: 'The service failed; `data.request_id` identifies the log line.',
  },
  APP_ERROR: { code: -32_000, message: 'The call was refused; the message says why.' },
  AUTH_ERROR: {
    code: -32_005,
    message:
      'The token is missing, invalid, already used or expired, or it is not the admin token.',
  },
  QUOTA_ERROR: {
    code: -32_006,
    message: 'The monthly quota and the points are used up.',
  },
  ADMIN_REQUIRED: {
    code: -32_007,
    message: 'The caller lacks the required role; the message names it.',
  },
} as const;

interface OpenRpcOptions {
  /** The version of the service. */
  readonly version: string;
  /** The public URL of the service. */
  readonly serverUrl?: string | undefined;
}

/** Describes every method and notification, from the same schemas that validate them. */
export function openRpcDocument({ version, serverUrl }: OpenRpcOptions): OpenRpcDocument {
  const contracts = Object.entries<MethodContract>(rpcMethods);
  const notifications = Object.entries(rpcNotifications);
  const schemasOf = (key: 'params' | 'result') =>
    Object.fromEntries(contracts.map(([name, contract]) => [name, contract[key]]));
  const params = jsonSchemas(schemasOf('params'), 'input');
  const results = jsonSchemas(
    {
      ...schemasOf('result'),
      ...Object.fromEntries(
        notifications.map(([name, contract]) => [notificationKey(name), contract.params]),
      ),
    },
    'output',
  );
  const describe = ([name, contract]: [string, MethodContract]): MethodDescription => ({
    name,
    summary: contract.summary,
    paramStructure: 'by-name',
    params: paramDescriptors(params.of(name)),
    result: { name: 'result', required: true, schema: results.of(name) },
    'x-auth': contract.auth,
    ...(contract.isExtension === true ? { 'x-extension': true } : {}),
  });
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: 'Model Gateway',
      version,
      description:
        'The management plane, over HTTP and WebSocket. Any call can return any of the errors. Notifications arrive on the event stream.',
    },
    ...(serverUrl === undefined
      ? {}
      : { servers: [{ name: 'this service', url: `${serverUrl.replace(/\/+$/, '')}/api/rpc` }] }),
    methods: contracts.map(describe),
    components: { schemas: { ...params.named, ...results.named }, errors: RPC_ERRORS },
    'x-notifications': notifications.map(([name, { summary, emittedBy }]) => ({
      name,
      summary,
      emittedBy,
      params: results.of(notificationKey(name)),
    })),
  };
}

/** A method and a notification may share a name. */
const notificationKey = (name: string): string => `notification ${name}`;

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});

function paramDescriptors(schema: JsonSchema): readonly ContentDescriptor[] {
  const { properties, required } = objectSchema.parse(schema);
  return Object.entries(properties)
    .map(([name, property]) => ({ name, required: required.includes(name), schema: property }))
    .toSorted((left, right) => Number(right.required) - Number(left.required));
}
