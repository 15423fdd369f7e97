import * as fc from 'fast-check';
import { fromSchema, type FieldValues, type Schema } from '../grammar/from-schema.ts';
import { hostileText } from '../grammar/json-text.ts';
import { onTheWire } from '../grammar/wire-text.ts';
import type { ServiceScene, Target } from '../target.ts';
import {
  checkCase,
  fill,
  httpCases,
  oddHeaders,
  oddQuery,
  sendCase,
  withCredential,
  type HttpCase,
} from './http-case.ts';

const FIELDS: FieldValues = {
  model: ['{{model}}', 'fuzz-local', 'fuzz-engine', 'fuzz-video'],
  url: ['{{upstream_url}}', 'http://127.0.0.1:1'],
  conversation_id: ['{{conversation_id}}'],
  // Lower indexes are those of the backends of the scene.
  index: [99, -1, 1e9],
};
const EVENTS = '/api/rpc/events';
const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'api_key',
  accessToken: 'user_jwt',
  adminToken: 'admin_token',
};

const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom('{{model}}', '%00', '%E0', '%ff%fe', '..', '..%2f..%2fetc', '__proto__', ''),
  fc.string().map((text) => encodeURIComponent(text)),
  fc.integer({ min: 1, max: 5000 }).map((count) => 'a'.repeat(count)),
);
const headers = oddHeaders(
  [
    'x-request-id',
    'x-service-ref',
    'idempotency-key',
    'x-session-id',
    'content-type',
    'content-encoding',
    'accept',
    'x-forwarded-for',
    'traceparent',
  ],
  ['', 'null', '*', 'application/json', 'text/plain', 'gzip', 'a'.repeat(4000)],
);
const query = oddQuery(['session', 'token', 'limit', 'a', '__proto__', 'x[y]', ''], id);

/** Every declared route of `/v1` and `/api`, and the event stream. */
export const rest: Target<HttpCase, ServiceScene> = {
  name: 'rest',
  about: 'paths, headers and bodies of every /v1 and /api route',
  scene: 'service',
  shortCases: 100,
  async cases(scene) {
    // A new route is in the document that the service publishes about itself.
    const response = await fetch(`${scene.restUrl}/openapi.json`);
    const { paths, components } = (await response.json()) as OpenApi;
    const find = (reference: string): Schema =>
      components.schemas[reference.replace('#/components/schemas/', '')] ?? {};
    const declared = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        requests({ path, method: method.toUpperCase(), ...operation }, find),
      ),
    );
    return fc.oneof(...declared, requests({ method: 'GET', path: EVENTS }, find));
  },
  async run(each, scene) {
    const isEvents = fill(each.path, scene.values).startsWith(EVENTS);
    const baseUrl = isEvents ? scene.rpcUrl : scene.restUrl;
    const answer = await sendCase(each, baseUrl, scene.values, { firstPieceOnly: isEvents });
    if (each.method !== 'GET' && each.path.startsWith('/api/admin/backends'))
      await scene.restoreBackends();
    return checkCase(each, answer, baseUrl, scene);
  },
};

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security?: readonly object[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}
type OperationOfPath = Omit<Operation, 'method' | 'path'>;
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationOfPath>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

function requests(
  { method, path, security = [], requestBody }: Operation,
  find: (reference: string) => Schema,
): fc.Arbitrary<HttpCase> {
  const schema = requestBody?.content['application/json']?.schema;
  const usual = security.flatMap((scheme) =>
    Object.keys(scheme).flatMap((name) => CREDENTIALS[name] ?? []),
  );
  return httpCases({
    method,
    path: fc.tuple(id, query).map(([each, search]) => `${path.replace(/\{\w+\}/, each)}${search}`),
    headers: withCredential(usual, headers),
    ...(schema === undefined
      ? {}
      : { body: onTheWire(hostileText(fromSchema(schema, FIELDS, find))) }),
  });
}
