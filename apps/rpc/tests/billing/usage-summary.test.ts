import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { usageEvent, type RpcAnswer } from '@model-gateway/testkit';
import {
  openGroupScene,
  type GroupScene,
  type PopulatedGroup,
  type TestUser,
} from '../groups/group-scene.ts';

const FORBIDDEN = -32_007;
const INVALID = -32_602;
const HIDDEN = -32_000;
const PERIOD = { from: '2026-03-01', to: '2026-03-31' };

interface Summary {
  readonly from: string;
  readonly to: string;
  readonly groups: readonly { readonly key: string | null; readonly requests: number }[];
  readonly total: { readonly requests: number };
}

let scene: GroupScene;
let group: PopulatedGroup;
const KEY = newId();
const FAILED = newId();

const event = ({ id }: TestUser, values: Partial<UsageEvent>): UsageEvent =>
  usageEvent(id, { created_at: '2026-03-04T05:06:07.890Z', ...values });

beforeAll(async () => {
  scene = await openGroupScene();
  group = await scene.populatedGroup();
  const ofGroup = { group_id: group.id, key_id: KEY, project: '=shop' };
  await scene.context.database.usage.record(
    [
      event(group.member, { ...ofGroup, cost: 0.1, status: 200, cached_tokens: 1 }),
      event(group.member, { cost: 0.2, status: 499, model: 'other', upstream: 'west' }),
      event(group.owner, { ...ofGroup, cost: 0.3, created_at: '2026-03-31T23:59:59.999Z' }),
      event(group.owner, { cost: 1, created_at: '2026-04-01T00:00:00.000Z' }),
    ],
    { pointsPerUsd: 100 },
  );
});

/** A failed request of a member, of the group's key. */
function addFailure() {
  const tried = { backend: 'west', model: 'm', reason: 'rate_limited', status: 429, ms: 3 };
  const failure = {
    id: FAILED,
    createdAt: new Date('2026-03-05T00:00:00.000Z'),
    userId: group.member.id,
    keyId: KEY,
    groupId: group.id,
    apiKeyId: 'service-',
    project: '=shop',
    backend: 'gateway',
    model: 'nowhere',
    countedModel: '',
    upstream: 'west',
    refId: null,
    latencyMs: 12,
    status: 429,
    errorCode: 'rate_limit_exceeded',
    error: 'rate limit exceeded',
    requestId: 'mine',
    attempts: [{ ...tried, outcome: 'failed' as const }],
    repeats: 3,
  };
  return scene.context.database.usage.record([], { pointsPerUsd: 100, failures: [failure] });
}
afterAll(() => scene.close());

test('sums of others come with the names of their users and groups', async () => {
  const named = async (groupBy: string, params: object, user: TestUser) => {
    const { result } = await scene.call(
      'usage.summary',
      { ...PERIOD, group_by: groupBy, ...params },
      user,
    );
    return (result as { readonly groups: readonly object[] }).groups;
  };
  const ofGroup = { scope: 'group', group_id: group.id };
  const { member, owner } = group;
  expect(await named('user', ofGroup, group.admin)).toMatchObject([
    { key: owner.id, name: owner.email },
    { key: member.id, name: member.email },
  ]);
  expect(await named('group', { scope: 'all' }, scene.platform)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ key: group.id, name: expect.any(String) }),
      expect.not.objectContaining({ name: expect.anything() }),
    ]),
  );
  // Its key was never stored.
  expect(await named('key', ofGroup, group.admin)).toEqual([
    expect.not.objectContaining({ name: expect.anything() }),
  ]);
  expect(await named('user', {}, member)).toEqual([
    expect.not.objectContaining({ name: expect.anything() }),
  ]);
});

const summary = (user: TestUser, params: object): Promise<RpcAnswer> =>
  scene.call('usage.summary', { ...PERIOD, group_by: 'model', ...params }, user);

test('the answer has the period, the groups and their sum', async () => {
  const { result } = await summary(group.member, {});
  const tokens = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, points: 0 };
  const sums = { requests: 1, errors: 0, failed: 0, ...tokens };
  expect(result).toEqual({
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-04-01T00:00:00.000Z',
    group_by: 'model',
    groups: [
      { key: 'other', ...sums, cancelled: 1, cached_tokens: 0, cost_usd: 0.2 },
      { key: 'm', ...sums, cancelled: 0, cached_tokens: 1, cost_usd: 0.1 },
    ],
    total: {
      requests: 2,
      errors: 0,
      failed: 0,
      cancelled: 1,
      prompt_tokens: 2,
      completion_tokens: 4,
      cached_tokens: 1,
      total_tokens: 6,
      cost_usd: 0.3,
      points: 0,
    },
  });
});

test('without a period it is about the last 30 days, with today', async () => {
  const { result } = await scene.call('usage.summary', { group_by: 'day' }, group.member);
  const { from, to } = result as Summary;
  expect(from).toMatch(/T00:00:00\.000Z$/);
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  expect(Math.ceil(days)).toBe(30);
});

/** How many requests each kind of caller sees, or the code of the refusal. */
const MATRIX: readonly {
  readonly params: () => object;
  readonly seen: Readonly<Record<string, number>>;
}[] = [
  {
    params: () => ({}),
    seen: { owner: 1, admin: 0, member: 2, deactivated: 0, outsider: 0, platform: 0 },
  },
  {
    params: () => ({ scope: 'all' }),
    seen: {
      owner: FORBIDDEN,
      admin: FORBIDDEN,
      member: FORBIDDEN,
      deactivated: FORBIDDEN,
      outsider: FORBIDDEN,
      platform: 3,
    },
  },
  {
    params: () => ({ scope: 'group', group_id: group.id }),
    seen: {
      owner: 2,
      admin: 2,
      member: FORBIDDEN,
      deactivated: HIDDEN,
      outsider: HIDDEN,
      platform: 2,
    },
  },
  // Filters narrow what a scope shows; they never widen it.
  {
    params: () => ({ key_id: KEY }),
    seen: { owner: 1, admin: 0, member: 1, deactivated: 0, outsider: 0, platform: 0 },
  },
  {
    params: () => ({ group_id: group.id }),
    seen: { owner: 1, admin: 0, member: 1, deactivated: 0, outsider: 0, platform: 0 },
  },
  {
    params: () => ({ user_id: group.member.id }),
    seen: {
      owner: FORBIDDEN,
      admin: FORBIDDEN,
      member: 2,
      deactivated: FORBIDDEN,
      outsider: FORBIDDEN,
      platform: FORBIDDEN,
    },
  },
  {
    params: () => ({ scope: 'group', group_id: group.id, user_id: group.member.id }),
    seen: { owner: 1, admin: 1, member: FORBIDDEN, outsider: HIDDEN, platform: 1 },
  },
];

test.each(MATRIX.map((row, index) => ({ ...row, index })))(
  'each caller sees only what the scope allows ($index)',
  async ({ params, seen }) => {
    const { platform, outsider } = scene;
    const { owner, admin, member, deactivated } = group;
    const callers: Readonly<Record<string, TestUser>> = {
      owner,
      admin,
      member,
      deactivated,
      outsider,
      platform,
    };
    const found: Record<string, number> = {};
    for (const name of Object.keys(seen)) {
      const caller = callers[name];
      if (caller === undefined) continue;
      const { result, error } = await summary(caller, params());
      found[name] = error?.code ?? (result as Summary).total.requests;
    }
    expect(found).toEqual(seen);
  },
);

test.each([
  { why: 'an unknown grouping', params: { group_by: 'planet' } },
  { why: 'a period that ends before it begins', params: { from: '2026-03-02', to: '2026-03-01' } },
  { why: 'no moment', params: { from: 'yesterday' } },
  { why: 'too many hours', params: { group_by: 'hour', from: '2025-01-01' } },
  { why: 'a group scope without a group', params: { scope: 'group' } },
  { why: 'a key that is no id', params: { key_id: 'x' } },
])('$why is refused', async ({ params }) => {
  expect((await summary(scene.platform, params)).error).toMatchObject({ code: INVALID });
});

describe('GET /api/usage.csv', () => {
  const fetchCsv = (query: string, token?: string, method = 'GET'): Promise<Response> =>
    fetch(`${scene.url}/api/usage.csv?${query}`, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  const period = 'from=2026-03-01&to=2026-03-31';

  test('has a line per group that a spreadsheet does not run, and the sum', async () => {
    const response = await fetchCsv(
      `${period}&group_by=project&scope=group&group_id=${group.id}`,
      group.owner.token,
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toContain(
      'usage-by-project-2026-03-01-2026-03-31.csv',
    );
    expect(await response.text()).toBe(
      [
        'project,requests,errors,failed,cancelled,prompt_tokens,completion_tokens,cached_tokens,total_tokens,cost_usd,points',
        "'=shop,2,0,0,0,2,4,1,6,0.4,0",
        'total,2,0,0,0,2,4,1,6,0.4,0',
        '',
      ].join('\r\n'),
    );
  });

  test.each([
    { why: 'no token', query: 'group_by=day', status: 401 },
    { why: 'a token that is none', query: 'group_by=day', token: () => 'none', status: 401 },
    {
      why: 'all without an admin',
      query: 'group_by=day&scope=all',
      token: () => group.owner.token,
      status: 403,
    },
    { why: 'no grouping', query: '', token: () => group.owner.token, status: 400 },
    {
      why: 'another method',
      query: 'group_by=day',
      token: () => group.owner.token,
      method: 'POST',
      status: 405,
    },
  ])('$why is refused', async ({ query, token, method, status }) => {
    expect((await fetchCsv(query, token?.(), method)).status).toBe(status);
  });
});

describe('requests.list and requests.get', () => {
  interface Listed {
    readonly requests: readonly { readonly id: string; readonly cost: number }[];
    readonly next_cursor: string | null;
  }
  const list = async (user: TestUser, params: object): Promise<Listed> => {
    const { result, error } = await scene.call('requests.list', { ...PERIOD, ...params }, user);
    expect(error).toBeUndefined();
    return result as Listed;
  };
  const costs = async (user: TestUser, params: object) =>
    (await list(user, params)).requests.map(({ cost }) => cost);

  test('a list has own requests, for platform admins all; others by scope alone', async () => {
    expect(await costs(group.member, {})).toHaveLength(2);
    expect(new Set(await costs(scene.platform, {}))).toEqual(new Set([0.1, 0.2, 0.3]));
    expect(await costs(scene.platform, { user_id: group.owner.id })).toEqual([0.3]);
    expect(await costs(scene.platform, { scope: 'self' })).toEqual([]);
    expect(await costs(group.owner, { scope: 'group', group_id: group.id })).toEqual([0.3, 0.1]);
    expect(await costs(scene.platform, { scope: 'all', status: 'cancelled' })).toEqual([0.2]);
    expect(await costs(scene.platform, { scope: 'all', status: 'error' })).toEqual([]);
    expect(await costs(scene.platform, { scope: 'all', key_id: KEY })).toEqual([0.3, 0.1]);
    for (const params of [{ scope: 'all' }, { user_id: group.owner.id }]) {
      const { error } = await scene.call('requests.list', params, group.member);
      expect(error).toMatchObject({ code: FORBIDDEN });
    }
  });

  test('a cursor goes on where the page ended; another text is refused', async () => {
    const first = await list(scene.platform, { scope: 'all', limit: 2 });
    const second = await list(scene.platform, {
      scope: 'all',
      limit: 2,
      cursor: first.next_cursor,
    });
    expect(first.requests).toHaveLength(2);
    expect(second.requests).toHaveLength(1);
    expect(second.next_cursor).toBeNull();
    const refused = await scene.call('requests.list', { cursor: 'x' }, group.member);
    expect(refused.error).toMatchObject({ code: INVALID });
  });

  test('a failed request is listed, shown and counted as an error, whatever the scope', async () => {
    await addFailure();
    await addFailure(); // changes nothing
    const ids = async (user: TestUser, params: object) =>
      (await list(user, params)).requests.map(({ id }) => id);
    expect((await ids(group.member, {}))[0]).toBe(FAILED);
    for (const params of [
      { error_code: 'rate_limit_exceeded' },
      { request_id: 'mine' },
      { request_id: FAILED },
      { status: 429, model: 'nowhere', key_id: KEY, upstream: 'west' },
    ]) {
      expect(await ids(group.member, params)).toEqual([FAILED]);
      expect(await ids(group.owner, params)).toEqual([]);
      expect(await ids(group.owner, { ...params, scope: 'group', group_id: group.id })).toEqual([
        FAILED,
      ]);
      expect(await ids(scene.platform, { ...params, scope: 'all' })).toEqual([FAILED]);
    }
    expect(await ids(group.member, { status: 'ok' })).not.toContain(FAILED);
    expect(await costs(group.member, { error_code: 'client_left' })).toEqual([0.2]);
    const { result } = await scene.call('requests.get', { request_id: FAILED }, group.admin);
    expect(result).toMatchObject({
      status: 429,
      model: 'nowhere',
      request_id: 'mine',
      error_code: 'rate_limit_exceeded',
      error: 'rate limit exceeded',
      latency_ms: 12,
      cost: null,
      repeats: 3,
      attempts: [{ backend: 'west', outcome: 'failed', reason: 'rate_limited', status: 429 }],
      bodies: null,
    });
    const { result: sums } = await summary(group.member, { group_by: 'upstream' });
    expect(sums).toMatchObject({ total: { requests: 2, errors: 3, failed: 3, cancelled: 1 } });
  });

  test('a request whose first backend answered has it as its only attempt', async () => {
    const { requests } = await list(group.member, { error_code: 'client_left' });
    const request = { request_id: requests[0]?.id };
    const { result } = await scene.call('requests.get', request, group.member);
    const attempt = { backend: 'west', model: 'other', outcome: 'answered' };
    expect(result).toMatchObject({ upstream: 'west', attempts: [attempt] });
  });

  test('a request is shown to its owner, to the admins of its group and to platform admins', async () => {
    const { requests } = await list(group.member, { group_id: group.id });
    const request_id = requests[0]?.id;
    const seen: Record<string, unknown> = {};
    const { outsider, platform } = scene;
    for (const [name, user] of Object.entries({ ...group, outsider, platform })) {
      if (typeof user === 'string') continue;
      const { result, error } = await scene.call('requests.get', { request_id }, user);
      seen[name] = error?.message ?? (result as { id: string }).id;
    }
    const hidden = 'request not found';
    expect(seen).toEqual({
      owner: request_id,
      admin: request_id,
      member: request_id,
      platform: request_id,
      deactivated: hidden,
      outsider: hidden,
    });
  });
});
