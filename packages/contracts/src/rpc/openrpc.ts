import { z } from 'zod';
import { jsonSchemas, type JsonSchema } from './json-schemas.ts';
import type { AuthLevel, MethodContract } from './method.ts';
import { rpcMethods } from './methods.ts';
import { rpcNotifications } from './notifications.ts';

const OPENRPC_VERSION = '1.3.2';

/** A value that a method takes or answers, described. */
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
}

/** An OpenRPC description of the management plane. */
export interface OpenRpcDocument {
  readonly openrpc: typeof OPENRPC_VERSION;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers?: readonly { readonly name: string; readonly url: string }[];
  readonly methods: readonly MethodDescription[];
  /** Methods of our own: described like the others, and apart from them. */
  readonly 'x-extensions': readonly MethodDescription[];
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

/** What every error number of the plane says. */
const RPC_ERRORS = {
  PARSE_ERROR: { code: -32_700, message: 'The message is not JSON.' },
  INVALID_REQUEST: {
    code: -32_600,
    message: 'The message is not a JSON-RPC 2.0 request, or it is too large.',
  },
  METHOD_NOT_FOUND: {
    code: -32_601,
    message: 'There is no such method; the text names it.',
  },
  INVALID_PARAMS: {
    code: -32_602,
    message:
      'The params do not fit; the text names the first that does not, `data.issues` lists all.',
  },
  INTERNAL_ERROR: {
    code: -32_603,
    message: 'The service failed; `data.request_id` is the key to its log.',
  },
  APP_ERROR: { code: -32_000, message: 'The call was understood and refused; the text says why.' },
  AUTH_ERROR: {
    code: -32_005,
    message: 'The token is missing, wrong, used or expired, or it is not the admin token.',
  },
  QUOTA_ERROR: {
    code: -32_006,
    message: 'The quota of this month and the points are used up.',
  },
  ADMIN_REQUIRED: { code: -32_007, message: 'You lack the role; the text says which.' },
} as const;

interface OpenRpcOptions {
  /** The version of the service. */
  readonly version: string;
  /** Where the service is reached from outside. */
  readonly serverUrl?: string | undefined;
}

/** Describes every method and notification, from the same schemas that validate them. */
export function openRpcDocument({ version, serverUrl }: OpenRpcOptions): OpenRpcDocument {
  const contracts = Object.entries<MethodContract>(rpcMethods);
  const notifications = Object.entries(rpcNotifications);
  const schemasOf = (key: 'params' | 'result') =>
    Object.fromEntries(contracts.map(([name, contract]) => [name, contract[key]]));
  const params = jsonSchemas(schemasOf('params'), 'input');
  const answers = jsonSchemas(
    {
      ...schemasOf('result'),
      ...Object.fromEntries(
        notifications.map(([name, contract]) => [notificationKey(name), contract.params]),
      ),
    },
    'output',
  );
  const describe = ([name, { auth, summary }]: [string, MethodContract]): MethodDescription => ({
    name,
    summary,
    paramStructure: 'by-name',
    params: paramDescriptors(params.of(name)),
    result: { name: 'result', required: true, schema: answers.of(name) },
    'x-auth': auth,
  });
  const isExtension = ([, contract]: [string, MethodContract]) => contract.isExtension === true;
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: 'Model Gateway',
      version,
      description:
        'The management plane, over HTTP and WebSocket. Any call may answer any of the errors. Notifications arrive on the event stream.',
    },
    ...(serverUrl === undefined
      ? {}
      : { servers: [{ name: 'this service', url: `${serverUrl.replace(/\/+$/, '')}/api/rpc` }] }),
    methods: contracts.filter((contract) => !isExtension(contract)).map(describe),
    'x-extensions': contracts.filter(isExtension).map(describe),
    components: { schemas: { ...params.named, ...answers.named }, errors: RPC_ERRORS },
    'x-notifications': notifications.map(([name, { summary, emittedBy }]) => ({
      name,
      summary,
      emittedBy,
      params: answers.of(notificationKey(name)),
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
