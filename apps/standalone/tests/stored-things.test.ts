import { randomBytes, randomUUID } from 'node:crypto';
import { openStoreLine, rpcCall, testRedisUrl, type StoreLine } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { ADMIN_TOKEN, startBothSurfaces, type BothSurfaces } from './both-surfaces.ts';

// What a user has stored is weighed before it is read: a request that is refused reads no text, and one that is served reads
// what it shows. Whatever is stored is in one of the two tables, by its column, and whatever can be named by its operation.

const MEBIBYTE = 1024 * 1024;
const LARGE = 'word '.repeat((6 * MEBIBYTE) / 5);
/** More than the rows around a text, and much less than the text. */
const NO_TEXT_BYTES = 256 * 1024;

let surfaces: BothSurfaces;
let upstream: RunningChatUpstream;
let postgres: StoreLine;

beforeAll(async () => {
  surfaces = await startBothSurfaces({
    async reach(storeUrl) {
      if (storeUrl === testRedisUrl()) return storeUrl;
      postgres = await openStoreLine(storeUrl);
      return postgres.url;
    },
  });
  upstream = await startChatUpstream({ models: ['m'], answer: () => 'short' });
  const config = { apiKey: null, models: [], capabilities: null };
  const backend = { name: 'up', type: 'external', url: upstream.url, ...config };
  await surfaces.runtime.router.registry.register(backend);
});
afterAll(async () => {
  await surfaces.test.close();
  await upstream.close();
  await postgres.close();
});

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

type Ask = (id: string, key: string) => Promise<string>;

/** Asks over REST; resolves with the status. */
const rest =
  (path: string, bodyOf?: (id: string) => object): Ask =>
  async (id, key) => {
    const body = bodyOf?.(id);
    const response = await fetch(`${surfaces.restUrl}${path.replace('{id}', id)}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.text();
    return String(response.status);
  };

/** Calls over RPC as Ann; resolves with `200` or the message of the error. */
const rpc =
  (method: string, paramsOf: (id: string) => object): Ask =>
  async (id) => {
    const { error } = await rpcCall(surfaces.rpcUrl, method, paramsOf(id), surfaces.ann.token);
    return error === undefined ? '200' : error.message;
  };

interface Way {
  /** The path or method; with more words where it names things in several ways. */
  readonly by: string;
  readonly ask: Ask;
  /** What one that is served may read. */
  readonly readsMax: number;
  /** What it has to read, where it needs the text. */
  readonly readsMin?: number;
  /** How it is refused, where its limits are those of requests; what is shown of a list is limited by its size alone. */
  readonly refusedBy?: 'rate' | 'quota';
}

interface Stored {
  /** Where its texts are. */
  readonly columns: readonly string[];
  /** Stores one for Ann that is as large as the text; resolves with its id. */
  readonly make: () => Promise<string>;
  readonly ways: readonly Way[];
}

const insert = async (sql: string, values: readonly unknown[]): Promise<string> => {
  const [row] = await surfaces.test.query(sql, values);
  return String(row?.['id']);
};

const continued = (id: string) => ({
  model: 'm',
  input: 'x',
  store: false,
  previous_response_id: id,
});
const referenced = (id: string) => ({
  model: 'm',
  store: false,
  input: [{ type: 'item_reference', id: `msg_${id.replace('resp_', '')}i0` }],
});

const STORED: Readonly<Record<string, Stored>> = {
  'a response': {
    columns: ['stored_responses.input', 'stored_responses.response'],
    async make() {
      const hex = randomBytes(16).toString('hex');
      const content = [{ type: 'input_text', text: LARGE }];
      const item = { type: 'message', role: 'user', id: `msg_${hex}i0`, content };
      const input = JSON.stringify([item]);
      const id = `resp_${hex}`;
      const saved = {
        id,
        userId: surfaces.ann.id,
        previousId: null,
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + 600_000),
        input,
        response: JSON.stringify({ id, object: 'response', output: [] }),
        inputItems: 1,
        outputItems: 0,
        largestInputBytes: input.length,
        largestOutputBytes: 0,
      };
      await surfaces.test.context.database.responses.save(saved, Number.MAX_SAFE_INTEGER);
      return id;
    },
    ways: [
      { by: '/v1/responses previous_response_id', ask: rest('/v1/responses', continued) },
      { by: '/v1/responses item_reference', ask: rest('/v1/responses', referenced) },
      {
        by: '/v1/responses/input_tokens previous_response_id',
        ask: rest('/v1/responses/input_tokens', continued),
      },
      {
        by: '/v1/responses/input_tokens item_reference',
        ask: rest('/v1/responses/input_tokens', referenced),
      },
      { by: '/v1/responses/{id}', ask: rest('/v1/responses/{id}') },
      { by: '/v1/responses/{id}/input_items', ask: rest('/v1/responses/{id}/input_items') },
    ].map((way) => ({
      ...way,
      readsMin: LARGE.length,
      readsMax: 1.1 * LARGE.length,
      refusedBy: 'rate' as const,
    })),
  },
  'a message': {
    columns: ['messages.content', 'messages.images', 'messages.tool_calls', 'messages.extra'],
    async make() {
      const id = randomUUID();
      const { conversations } = surfaces.test.context.database;
      await conversations.create({ id, userId: surfaces.ann.id, title: 'talk' });
      await conversations.addTurn(id, [
        { role: 'user', content: LARGE, images: [LARGE], extra: { content: LARGE } },
      ]);
      await conversations.addTurn(id, [{ role: 'user', content: LARGE }]);
      return id;
    },
    ways: [
      {
        by: 'chat.send conversation_id',
        ask: rpc('chat.send', (conversation_id) => ({ ...CHAT, conversation_id })),
        readsMin: LARGE.length,
        readsMax: 16 * MEBIBYTE,
        refusedBy: 'quota',
      },
      {
        by: '/v1/chat/completions conversation_id',
        ask: rest('/v1/chat/completions', (conversation_id) => ({ ...CHAT, conversation_id })),
        readsMax: NO_TEXT_BYTES,
        refusedBy: 'rate',
      },
      {
        by: 'realtime.start conversation_id',
        ask: rpc('realtime.start', (conversation_id) => ({ model: 'm', conversation_id })),
        readsMax: NO_TEXT_BYTES,
      },
      {
        by: 'conversations.get conversation_id',
        ask: rpc('conversations.get', (conversation_id) => ({ conversation_id })),
        readsMax: 1.5 * MEBIBYTE,
      },
      {
        by: 'conversations.get id',
        ask: rpc('conversations.get', (id) => ({ id })),
        readsMax: 1.5 * MEBIBYTE,
      },
      {
        by: 'conversations.list',
        ask: rpc('conversations.list', () => ({})),
        readsMax: NO_TEXT_BYTES,
      },
      {
        by: 'conversations.delete conversation_id',
        ask: rpc('conversations.delete', (conversation_id) => ({ conversation_id })),
        readsMax: NO_TEXT_BYTES,
      },
    ],
  },
  'a video job': {
    columns: ['video_jobs.request', 'video_job_images.data'],
    async make() {
      const id = await insert(
        `INSERT INTO video_jobs (user_id, api_key_id, model, resolved_model, request, status)
         VALUES ($1, 'jwt', 'm', 'm', jsonb_build_object('prompt', $2::text), 'done') RETURNING id`,
        [surfaces.ann.id, LARGE],
      );
      await insert(
        `INSERT INTO video_job_images (job_id, position, mime_type, data)
         VALUES ($1, 0, 'image/png', convert_to($2, 'UTF8')) RETURNING job_id AS id`,
        [id, LARGE],
      );
      return id;
    },
    ways: [
      { by: '/v1/video/generations/{id}', ask: rest('/v1/video/generations/{id}') },
      { by: 'video.get job_id', ask: rpc('video.get', (job_id) => ({ job_id })) },
      { by: 'video.list', ask: rpc('video.list', () => ({})) },
    ].map((way) => ({ ...way, readsMax: NO_TEXT_BYTES })),
  },
};

/** Texts that are small by themselves, and why. */
const SMALL: Readonly<Record<string, string>> = {
  ...because('the schemas of methods limit them', [
    'api_keys.addresses',
    'api_keys.metadata',
    'api_keys.models',
    'groups.description',
    'webhooks.events',
    'webhooks.url',
  ]),
  ...because('they are cut or limited when they are written', [
    'audit_entries.after',
    'audit_entries.before',
    'memory_events.detail',
    'memory_events.node_ids',
    'request_bodies.answer',
    'request_bodies.request',
    'request_details.attempts',
    'request_failures.attempts',
    'video_jobs.error',
    'video_jobs.result',
  ]),
  ...because('the service writes them', [
    '_prisma_migrations.logs',
    'group_invitations.removed_user_ids',
    'outbox_events.data',
    'usage_records.media_tokens',
    'usage_records.price',
    'usage_records_default.media_tokens',
    'usage_records_default.price',
    'users.password_hash',
    'video_jobs.allowed_models',
    'webhooks.secret',
  ]),
  ...because('only admins, the operator and their nodes write and read them', [
    'agent_model_settings.capabilities',
    'agent_models.streams',
    'agent_models.url',
    'agent_nodes.gpus',
    'agent_nodes.hosts',
    'backend_configs.api_key',
    'backend_configs.api_keys',
    'backend_configs.capabilities',
    'backend_configs.dialects',
    'backend_configs.limits',
    'backend_configs.models',
    'backend_configs.url',
    'backend_configs.workflow',
    'file_entries.name',
    'file_entries.target',
    'providers.description',
    'rejected_usage.error',
    'rejected_usage.event',
    'rejected_usage.id',
    'route_rules.rule',
    'video_pricing.resolution_coeff',
  ]),
};

function because(reason: string, columns: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map((column) => [column, reason]));
}

const inOrder = (names: readonly string[]): readonly string[] =>
  names.toSorted((one, other) => one.localeCompare(other));

test('every column that can have a long text is weighed before it is read, or small', async () => {
  const rows = await surfaces.test.query(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type IN ('text', 'json', 'jsonb', 'bytea', 'ARRAY')`,
  );
  const weighed = Object.values(STORED).flatMap(({ columns }) => columns);
  const known = [...weighed, ...Object.keys(SMALL)];
  expect(inOrder(rows.map(({ name }) => String(name)))).toEqual(inOrder(known));
});

/** Params and fields that name something stored, and the methods and paths that have one and read no text of it. */
const NAMING = /^(conversation_id|job_id|request_id|previous_response_id)$/;
const READ_NOTHING: readonly string[] = [
  // What it reads is small, and in the other table.
  'requests.get',
  'requests.list',
  'video.cancel',
];

test('every method and path that names one of them is tried', async () => {
  const described = await rpcCall(surfaces.rpcUrl, 'rpc.discover', {});
  type Method = { readonly name: string; readonly params: readonly { readonly name: string }[] };
  const { methods } = described.result as { readonly methods: readonly Method[] };
  const naming = methods
    .filter(({ params }) => params.some(({ name }) => NAMING.test(name)))
    .map(({ name }) => name);
  const document = await (await fetch(`${surfaces.restUrl}/openapi.json`)).json();
  const { paths } = document as { readonly paths: Readonly<Record<string, unknown>> };
  const named = Object.keys(paths).filter((path) =>
    /^\/v1\/(responses|video)\b.*\{id\}/.test(path),
  );
  const tried = Object.values(STORED).flatMap(({ ways }) => ways.map(({ by }) => by.split(' ')[0]));
  for (const name of [...naming, ...named]) expect([...tried, ...READ_NOTHING]).toContain(name);
  expect(naming).toContain('chat.send');
  expect(named).toContain('/v1/responses/{id}/input_items');
});

/** What Postgres sends meanwhile. */
async function readDuring<Value>(work: () => Promise<Value>) {
  const before = postgres.answeredBytes;
  const value = await work();
  return { value, bytes: postgres.answeredBytes - before };
}

/** What the tier of Ann allows while she is refused, and otherwise. */
const NOTHING_LEFT = { rate: { rpm: 0 }, quota: { monthly_token_quota: 0 } };
const UNLIMITED = { rpm: null, monthly_token_quota: null };

async function setTier(limits: object): Promise<void> {
  const params = { name: 'free', ...limits };
  const { error } = await rpcCall(surfaces.rpcUrl, 'billing.tiers.set', params, ADMIN_TOKEN);
  expect(error).toBeUndefined();
}

const WAYS = Object.entries(STORED).flatMap(([what, { make, ways }]) =>
  ways.map((way) => ({ ...way, what, make })),
);

test.each(WAYS)(
  '$by reads of $what what it shows',
  async ({ make, ask, readsMin = 0, readsMax }) => {
    const id = await make();
    const { value, bytes } = await readDuring(() => ask(id, surfaces.ann.key));
    // No model of this gateway can do realtime.
    expect(value).toMatch(/^(200$|.*realtime)/);
    expect(bytes).toBeGreaterThanOrEqual(readsMin);
    expect(bytes).toBeLessThanOrEqual(readsMax);
  },
);

const REFUSED = WAYS.flatMap(({ refusedBy, ...way }) =>
  refusedBy === undefined ? [] : [{ ...way, refusedBy }],
);

test.each(REFUSED)(
  '$by reads nothing of $what when it is refused',
  async ({ make, ask, refusedBy }) => {
    const id = await make();
    await setTier(NOTHING_LEFT[refusedBy]);
    const { value, bytes } = await readDuring(() => ask(id, surfaces.ann.key));
    await setTier(UNLIMITED);
    expect(value).toMatch(refusedBy === 'quota' ? /quota/ : /^429$/);
    expect(bytes).toBeLessThan(NO_TEXT_BYTES);
  },
);
