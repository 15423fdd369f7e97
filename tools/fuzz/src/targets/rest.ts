import * as fc from 'fast-check';
import { bearerAmong, bearerHeader, type Bearer } from '../grammar/bearer.ts';
import { fromSchema, type FieldValues, type Schema } from '../grammar/from-schema.ts';
import { hostileValue, mutated, textOf } from '../grammar/hostile.ts';
import { rarely } from '../grammar/rarely.ts';
import { bytesOf, cutAt, cuts, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';

interface RestRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly bearer: Bearer;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText | null;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

/** One declared operation. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly body: fc.Arbitrary<WireText> | undefined;
}

const FIELDS: FieldValues = {
  model: ['"{{model}}"', '"fuzz-local"', '"fuzz-engine"', '"fuzz-video"'],
  url: ['"{{upstream_url}}"', '"http://127.0.0.1:1"'],
  conversation_id: ['"{{conversation_id}}"'],
  // Lower indexes are those of the backends of the scene.
  index: ['99', '-1', '1e9'],
};
const EVENTS = '/api/rpc/events';
const BEARERS: Readonly<Record<string, Bearer>> = {
  apiKey: 'api_key',
  accessToken: 'user_jwt',
  adminToken: 'admin_token',
};

const idInPath = fc.oneof(
  fc.uuid(),
  fc.constantFrom('{{model}}', '%00', '%E0', '%ff%fe', '..', '..%2f..%2fetc', '__proto__', ''),
  fc.string().map((text) => encodeURIComponent(text)),
  fc.integer({ min: 1, max: 5000 }).map((count) => 'a'.repeat(count)),
);
const query = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom('session', 'token', 'limit', 'a', '__proto__', 'x[y]', ''),
          idInPath,
        ),
        { maxLength: 4 },
      )
      .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  },
);
const headerValue = fc.oneof(
  fc.constantFrom('', 'null', '*', 'application/json', 'text/plain', 'gzip', 'a'.repeat(4000)),
  fc.string().map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'x-request-id',
    'x-service-ref',
    'idempotency-key',
    'x-session-id',
    'content-type',
    'content-encoding',
    'accept',
    'x-forwarded-for',
    'traceparent',
  ),
  headerValue,
  { maxKeys: 2, noNullPrototype: true },
);

/** Every declared route of `/v1` and `/api`, and the event stream. */
export const rest: Target<RestRequest, ServiceScene> = {
  name: 'rest',
  about: 'paths, headers and bodies of every /v1 and /api route',
  scene: 'service',
  shortCases: 100,
  async cases(scene) {
    const operations = [...(await operationsOf(scene.restUrl)), EVENT_STREAM];
    return fc.oneof(...operations.map(requestsFor));
  },
  async run(each, scene) {
    const { method, path, bearer, body, hangsUp } = each;
    const filled = bytesOf({ text: path }, scene.values).toString();
    const isEvents = filled.startsWith(EVENTS);
    const baseUrl = isEvents ? scene.rpcUrl : scene.restUrl;
    const answer = await send(baseUrl, {
      method,
      path: filled,
      headers: { ...each.headers, ...bearerHeader(bearer, scene.values) },
      pieces: body === null ? [] : cutAt(bytesOf(body, scene.values), each.cuts),
      hangsUp: hangsUp && body !== null,
      firstPieceOnly: isEvents,
    });
    if (method !== 'GET' && path.startsWith('/api/admin/backends')) await scene.restoreBackends();
    if (hangsUp) return afterHangUp(baseUrl);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return checkAnswer(answer, scene.secrets);
  },
};

const EVENT_STREAM: Operation = { method: 'GET', path: EVENTS, security: [], body: undefined };

/** The operations of the document that the service publishes about itself: a new route is one of them. */
async function operationsOf(restUrl: string): Promise<readonly Operation[]> {
  const response = await fetch(`${restUrl}/openapi.json`);
  const { paths, components } = (await response.json()) as OpenApi;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      security,
      body: bodiesOf(requestBody?.content['application/json']?.schema, components.schemas),
    })),
  );
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface OpenApiOperation {
  readonly security?: Operation['security'];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

function requestsFor(operation: Operation): fc.Arbitrary<RestRequest> {
  const names = operation.security.flatMap((scheme) => Object.keys(scheme));
  const usual = names.flatMap((name) => BEARERS[name] ?? []);
  return fc.record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(operation.method) },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH') },
    ),
    path: fc
      .tuple(idInPath, query)
      .map(([id, search]) => `${operation.path.replace(/\{\w+\}/, id)}${search}`),
    bearer: bearerAmong(...(usual.length === 0 ? (['none'] as const) : usual)),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headers }),
    body: operation.body ?? fc.constant(null),
    cuts,
    hangsUp: operation.body === undefined ? fc.constant(false) : rarely(),
  });
}

function bodiesOf(
  schema: Schema | undefined,
  named: OpenApi['components']['schemas'],
): fc.Arbitrary<WireText> | undefined {
  if (schema === undefined) return undefined;
  const find = (reference: string) => named[reference.replace('#/components/schemas/', '')] ?? {};
  return onTheWire(
    fc.oneof(
      { weight: 10, arbitrary: textOf(mutated(fromSchema(schema, FIELDS, find))) },
      { weight: 1, arbitrary: hostileValue },
      { weight: 1, arbitrary: fc.string() },
    ),
  );
}
