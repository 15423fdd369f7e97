import { usageQueryResultSchema } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { admin, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;

interface RowToWrite {
  readonly at: string;
  readonly model?: string;
  readonly backend?: string;
  readonly ref?: string | null;
  readonly tokens?: readonly [number, number];
  readonly cost?: number | null;
}

const idOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** In this order of ids. */
const ROWS: readonly RowToWrite[] = [
  { at: '2025-05-01T00:00:00.000Z', model: 'a', ref: 'x', tokens: [10, 1], cost: 0.1 },
  { at: '2025-05-01T12:00:00.000Z', model: 'b', ref: 'y', tokens: [20, 2], cost: 0.2 },
  { at: '2025-05-01T23:59:59.999Z', model: 'a', tokens: [30, 3], cost: null },
  { at: '2025-05-02T00:00:00.000Z', model: 'b', ref: 'x', tokens: [40, 4], cost: 0.4 },
  { at: '2025-05-02T12:00:00.000Z', model: 'b', backend: 'rpc', tokens: [50, 5], cost: 0 },
  { at: '2025-05-02T12:00:00.000Z', model: 'c', backend: 'realtime', ref: '100%', tokens: [0, 0] },
  { at: '2025-06-01T00:00:00.000Z', model: 'a', ref: '100_', tokens: [66, 0], cost: 0.6 },
];

beforeAll(async () => {
  gateway = await startGateway();
  const events = ROWS.map((row, index) => {
    const [prompt, completion] = row.tokens ?? [1, 1];
    return {
      id: idOf(index + 1),
      user_id: gateway.userId,
      key_id: gateway.keyId,
      api_key_id: 'service-',
      project: 'default',
      group_id: null,
      model: row.model ?? 'a',
      backend: row.backend ?? 'gateway',
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      cost: row.cost ?? null,
      multiplier: 1,
      ref_id: row.ref ?? null,
      created_at: row.at,
    };
  });
  await gateway.test.context.database.usage.record(events, { pointsPerUsd: 100 });
});
afterAll(() => gateway.test.close());

const ask = (body?: unknown) => admin(gateway, 'POST', 'usage/query', body);

async function query(body?: unknown) {
  const response = await ask(body);
  expect(response.status).toBe(200);
  return usageQueryResultSchema.parse(await response.json());
}

const ALL = {
  requests: 7,
  prompt_tokens: 216,
  completion_tokens: 15,
  total_tokens: 231,
  cost_usd: 1.3,
};

test.each([
  { why: 'without a body', body: undefined },
  { why: 'with an empty object', body: {} },
  { why: 'with unknown fields', body: { hello: true, model: 'a' } },
  { why: 'with nulls', body: { ref_ids: null, since: null, until: null, group_by: null } },
  { why: 'with no references', body: { ref_ids: [] } },
  { why: 'with only blank references', body: { ref_ids: ['', '  ', '\t'] } },
])('$why everything is summed, and only the totals are returned', async ({ body }) => {
  expect(await query(body)).toEqual({ totals: ALL });
});

test.each([
  { filter: { ref_ids: ['x'] }, requests: 2, tokens: 55 },
  { filter: { ref_ids: [' x ', '', 'y'] }, requests: 3, tokens: 77 },
  { filter: { ref_ids: ['X'] }, requests: 0, tokens: 0 },
  { filter: { ref_ids: ['%'] }, requests: 0, tokens: 0 },
  { filter: { ref_ids: ['_'] }, requests: 0, tokens: 0 },
  { filter: { ref_ids: ['100%'] }, requests: 1, tokens: 0 },
  { filter: { ref_ids: ['100_'] }, requests: 1, tokens: 66 },
  { filter: { since: '2025-05-02' }, requests: 4, tokens: 165 },
  { filter: { until: '2025-05-01' }, requests: 3, tokens: 66 },
  { filter: { since: '2025-05-01', until: '2025-05-01' }, requests: 3, tokens: 66 },
  { filter: { since: '2025-05-02', until: '2025-05-01' }, requests: 0, tokens: 0 },
  { filter: { since: '2025-05-01T12:00:00Z' }, requests: 6, tokens: 220 },
  { filter: { since: '2025-05-01T12:00:00.001Z' }, requests: 5, tokens: 198 },
  { filter: { until: '2025-05-01T12:00:00Z' }, requests: 1, tokens: 11 },
  { filter: { until: '2025-05-01T12:00:00.001Z' }, requests: 2, tokens: 33 },
  { filter: { until: '2025-05-01T23:59:59.999Z' }, requests: 2, tokens: 33 },
  { filter: { until: '2025-05-02T00:00:00Z' }, requests: 3, tokens: 66 },
  { filter: { since: '2025-05-01T14:00:00+02:00' }, requests: 6, tokens: 220 },
  { filter: { until: '2025-05-01T07:00:00.001-05:00' }, requests: 2, tokens: 33 },
  {
    filter: { since: '2025-05-01T12:00:00Z', until: '2025-05-02T12:00:00Z' },
    requests: 3,
    tokens: 99,
  },
  { filter: { since: '2025-05-01T12:00:00Z', ref_ids: ['x', 'y'] }, requests: 2, tokens: 66 },
  { filter: { since: '0000-01-01', until: '9999-12-31' }, requests: 7, tokens: 231 },
  { filter: { since: '9999-12-31T23:59:59Z' }, requests: 0, tokens: 0 },
])('$filter matches $requests rows', async ({ filter, requests, tokens }) => {
  const { totals } = await query(filter);
  expect(totals).toMatchObject({ requests, total_tokens: tokens });
});

test('references are cut at 64 characters', async () => {
  const long = 'r'.repeat(64);
  const event = {
    id: newId(),
    user_id: newId(),
    key_id: null,
    api_key_id: 'jwt',
    project: null,
    group_id: null,
    model: 'a',
    backend: 'rpc',
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost: null,
    multiplier: 1,
    ref_id: long,
    created_at: '2024-01-01T00:00:00.000Z',
  };
  await gateway.test.context.database.usage.record([event], { pointsPerUsd: 100 });
  expect((await query({ ref_ids: [`  ${long}and more`] })).totals.requests).toBe(1);
  expect((await query({ ref_ids: [long.slice(1)] })).totals.requests).toBe(0);
});

describe('groups', () => {
  const since = '2025-01-01';
  const keys = async (group_by: string, filter: object = {}) =>
    (await query({ group_by, since, ...filter })).groups?.map(({ key, requests, total_tokens }) => [
      key,
      requests,
      total_tokens,
    ]);

  it('by model contain all sums, ordered by most tokens', async () => {
    expect(await query({ group_by: 'model', since })).toEqual({
      totals: ALL,
      groups: [
        {
          key: 'b',
          requests: 3,
          prompt_tokens: 110,
          completion_tokens: 11,
          total_tokens: 121,
          cost_usd: 0.6,
        },
        {
          key: 'a',
          requests: 3,
          prompt_tokens: 106,
          completion_tokens: 4,
          total_tokens: 110,
          cost_usd: 0.7,
        },
        {
          key: 'c',
          requests: 1,
          prompt_tokens: 0,
          completion_tokens: 0,
          total_tokens: 0,
          cost_usd: 0,
        },
      ],
    });
  });

  it('by backend', async () => {
    expect(await keys('backend')).toEqual([
      ['gateway', 5, 176],
      ['rpc', 1, 55],
      ['realtime', 1, 0],
    ]);
  });

  it('by day, the earlier first among equal tokens', async () => {
    expect(await keys('day')).toEqual([
      ['2025-05-02', 3, 99],
      ['2025-05-01', 3, 66],
      ['2025-06-01', 1, 66],
    ]);
  });

  it('by reference, with a null group for rows without one', async () => {
    expect(await keys('ref')).toEqual([
      [null, 2, 88],
      ['100_', 1, 66],
      ['x', 2, 55],
      ['y', 1, 22],
      ['100%', 1, 0],
    ]);
  });

  it('of selected references have no null group', async () => {
    expect(await keys('ref', { ref_ids: ['x', 'missing'] })).toEqual([['x', 2, 55]]);
  });

  it('within a day', async () => {
    const filter = { since: '2025-05-01T12:00:00Z', until: '2025-05-02T12:00:00.001Z' };
    expect(await keys('ref', filter)).toEqual([
      [null, 2, 88],
      ['x', 1, 44],
      ['y', 1, 22],
      ['100%', 1, 0],
    ]);
    expect(await keys('day', filter)).toEqual([
      ['2025-05-02', 3, 99],
      ['2025-05-01', 2, 55],
    ]);
  });

  it('of no rows are empty', async () => {
    expect(await query({ group_by: 'ref', until: '2020-01-01' })).toEqual({
      totals: {
        requests: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        cost_usd: 0,
      },
      groups: [],
    });
  });
});

describe('records', () => {
  const since = '2025-01-01';
  const page = async (body: object) => {
    const { records, records_total, limit, offset } = await query({
      include_records: true,
      since,
      ...body,
    });
    const numbers = records?.map(({ id }) => Number(id.slice(-12)));
    return { numbers, records_total, limit, offset };
  };

  it('are newest first, then by id, a hundred per page', async () => {
    expect(await page({})).toEqual({
      numbers: [7, 5, 6, 4, 3, 2, 1],
      records_total: 7,
      limit: 100,
      offset: 0,
    });
  });

  it('are paged, within bounds', async () => {
    expect(await page({ limit: 2, offset: 1 })).toEqual({
      numbers: [5, 6],
      records_total: 7,
      limit: 2,
      offset: 1,
    });
    expect(await page({ limit: 0, offset: -5 })).toMatchObject({
      numbers: [7],
      limit: 1,
      offset: 0,
    });
    expect(await page({ limit: 501 })).toMatchObject({ limit: 500 });
    expect(await page({ limit: null, offset: null })).toMatchObject({ limit: 100, offset: 0 });
    expect(await page({ offset: 7 })).toMatchObject({ numbers: [], records_total: 7 });
  });

  it('are filtered like the sums', async () => {
    const filter = { ref_ids: ['x', 'y'], since: '2025-05-01T06:00:00Z' };
    expect(await page(filter)).toMatchObject({ numbers: [4, 2], records_total: 2 });
  });

  it('have all fields', async () => {
    const { records } = await query({ include_records: true, ref_ids: ['y'] });
    expect(records).toEqual([
      {
        id: idOf(2),
        ref_id: 'y',
        api_key_id: 'service-',
        model: 'b',
        backend: 'gateway',
        prompt_tokens: 20,
        completion_tokens: 2,
        total_tokens: 22,
        cost: 0.2,
        created_at: '2025-05-01T12:00:00.000Z',
        points: null,
        account_type: null,
        key_id: gateway.keyId,
        project: 'default',
        user_id: gateway.userId,
        group_id: null,
        // An event of an earlier version has none of these.
        upstream: null,
        cached_tokens: null,
        latency_ms: null,
        first_token_ms: null,
        status: null,
        cache_write_tokens: null,
        images: null,
        audio_seconds: null,
        media_tokens: null,
        price: null,
        cached: false,
      },
    ]);
  });

  it('can be combined with groups', async () => {
    const both = await query({ include_records: true, group_by: 'day', since, limit: 1 });
    expect(both).toMatchObject({ records_total: 7, records: [{}], groups: [{}, {}, {}] });
  });
});

test.each([
  ...['2025-02-30', '', 'now', '2025-05-01T10:00:00', 5, true, ['2025-05-01'], {}].flatMap(
    (value) => [
      { body: { since: value }, code: 'bad_since' },
      { body: { until: value }, code: 'bad_until' },
    ],
  ),
  ...['key', 'Model', '', 5, ['model'], {}].map((value) => ({
    body: { group_by: value },
    code: 'bad_group_by',
  })),
  { body: { limit: 'x', since: 'x' }, code: 'bad_since' },
  { body: { limit: 'ten' }, code: 'missing_fields' },
  { body: { limit: 1.5 }, code: 'missing_fields' },
  { body: { offset: true }, code: 'missing_fields' },
  { body: { include_records: 'yes' }, code: 'missing_fields' },
  { body: { ref_ids: 'x' }, code: 'missing_fields' },
  { body: { ref_ids: [5] }, code: 'missing_fields' },
  { body: { ref_ids: ['a\u0000b'] }, code: 'missing_fields' },
  { body: '{', code: 'invalid_json' },
  { body: '[]', code: 'missing_fields' },
])('$body is refused with $code', async ({ body, code }) => {
  const response = await ask(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request', code } });
});

test.each(['wrong', ''])('the token %p is refused', async (token) => {
  const response = await admin(gateway, 'POST', 'usage/query', {}, token);
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
});

test('keys are refused, and so is another method', async () => {
  expect((await admin(gateway, 'POST', 'usage/query', {}, gateway.key)).status).toBe(401);
  const response = await admin(gateway, 'GET', 'usage/query');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('it is in the OpenAPI document', async () => {
  const document: unknown = await (await fetch(`${gateway.url}/openapi.json`)).json();
  const fields = { since: { type: ['string', 'null'] }, limit: { default: 100 } };
  const schema = { $ref: '#/components/schemas/UsageQuery' };
  expect(document).toMatchObject({
    paths: {
      '/api/admin/usage/query': {
        post: {
          security: [{ adminToken: [] }],
          requestBody: { content: { 'application/json': { schema } } },
        },
      },
    },
    components: { schemas: { UsageQuery: { properties: fields } } },
  });
});
