import type { RpcResult } from '@model-gateway/contracts';
import { concernsOf, runsOutAt } from './attention.ts';

type Key = RpcResult<'keys.list'>[number];
type Node = RpcResult<'agents.list'>[number];

const NOW = Date.parse('2026-03-11T00:00:00Z');

const MONTHLY = { budget_period: 'month', budget_resets_at: '2026-04-01T00:00:00Z' } as const;

const key = (fields: Partial<Key>): Key => ({
  id: '7b1f3f0e-2a9b-4a54-9a4e-3f1f3a0b8c11',
  name: 'build',
  key_prefix: 'service-1',
  key_hint: 'service-1…',
  project: 'default',
  group_id: null,
  active: true,
  created_at: '2026-01-01T00:00:00Z',
  last_used_at: null,
  revoked_at: null,
  expires_at: null,
  budget_usd: null,
  budget_period: null,
  budget_used_usd: null,
  budget_resets_at: null,
  rpm: null,
  tpm: null,
  models: null,
  addresses: null,
  metadata: null,
  log_bodies: null,
  cache: null,
  previous_until: null,
  ...fields,
});

test.each([
  { why: 'no limit', fields: {}, texts: [] },
  {
    why: 'ends next month',
    fields: { expires_at: '2026-04-20T00:00:00Z' },
    texts: [],
  },
  {
    why: 'ends this week',
    fields: { expires_at: '2026-03-13T00:00:00Z' },
    texts: ['attention.key.expires'],
  },
  {
    why: 'has ended',
    fields: { expires_at: '2026-03-10T00:00:00Z', active: false },
    texts: ['attention.key.expired'],
  },
  {
    why: 'has ended but was revoked',
    fields: {
      expires_at: '2026-03-10T00:00:00Z',
      active: false,
      revoked_at: '2026-03-10T00:00:00Z',
    },
    texts: [],
  },
  { why: 'half of the budget', fields: { budget_usd: 10, budget_used_usd: 5 }, texts: [] },
  {
    why: 'most of the budget',
    fields: { budget_usd: 10, budget_used_usd: 8 },
    texts: ['attention.budget.ends'],
  },
  {
    why: 'the whole budget',
    fields: { budget_usd: 10, budget_used_usd: 10 },
    texts: ['attention.budget.used'],
  },
  {
    why: 'the whole budget of a month',
    fields: { budget_usd: 10, budget_used_usd: 10, ...MONTHLY },
    texts: ['attention.budget.used.until'],
  },
  {
    why: 'a budget of a month that lasts',
    fields: { budget_usd: 10, budget_used_usd: 2, ...MONTHLY },
    texts: [],
  },
  {
    why: 'a budget of a month that does not last',
    fields: { budget_usd: 10, budget_used_usd: 5, ...MONTHLY },
    texts: ['attention.budget.ends'],
  },
])('a key with $why', ({ fields, texts }) => {
  expect(concernsOf({ keys: [key(fields)] }, NOW).map(({ text }) => text)).toEqual(texts);
});

test.each([
  { why: 'nothing used', used: 0, left: 10, end: undefined },
  { why: 'enough for the month', used: 1, left: 9, end: undefined },
  { why: 'twice as fast as the quota', used: 5, left: 5, end: '2026-03-21T00:00:00.000Z' },
])('a quota with $why', ({ used, left, end }) => {
  const march = { start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 3, 1) };
  const at = runsOutAt(used, left, march, NOW);
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(end);
});

test('the worst is first, and a few failures are none', () => {
  const sums = {
    cancelled: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    total_tokens: 0,
    cost_usd: 0,
    points: 0,
  };
  const concerns = concernsOf(
    {
      keys: [key({ expires_at: '2026-03-13T00:00:00Z' })],
      backends: [
        { name: 'good', state: 'Healthy', reason: null, checked_at: null },
        { name: 'away', state: 'Unhealthy', reason: 'refused', checked_at: '2026-03-10T23:59:00Z' },
        { name: 'new', state: 'Unhealthy', reason: 'not probed yet', checked_at: null },
      ],
      upstreams: [
        { key: 'well', requests: 102, errors: 2, ...sums },
        { key: 'broken', requests: 13, errors: 4, ...sums },
        { key: 'stopped', requests: 9, errors: 0, ...sums, cancelled: 9 },
        { key: null, requests: 10, errors: 10, ...sums },
      ],
    },
    NOW,
  );
  expect(concerns.map(({ id }) => id.split(' ')[0])).toEqual(['backend', 'upstream', 'expiry']);
  expect(concerns[0]?.values).toEqual({ name: 'away', state: 'Unhealthy', reason: 'refused' });
  expect(concerns[1]?.values).toEqual({ name: 'broken', errors: 4, requests: 13 });
});

test('the day on which a budget is used up is named', () => {
  const spending = key({ budget_usd: 10, budget_used_usd: 5, ...MONTHLY });
  expect(concernsOf({ keys: [spending] }, NOW)).toMatchObject([
    { values: { name: 'build', share: 50 }, at: '2026-03-21T00:00:00.000Z', to: '/keys' },
  ]);
});

test('videos that wait for more than ten minutes are named, with the time of the oldest', () => {
  const seconds = NOW / 1000;
  const [concern, ...others] = concernsOf(
    {
      videos: [
        { status: 'queued', created_at: seconds - 60 },
        { status: 'queued', created_at: seconds - 900 },
        { status: 'queued', created_at: seconds - 1800 },
        { status: 'running', created_at: seconds - 3600 },
        { status: 'failed', created_at: seconds - 7200 },
      ],
    },
    NOW,
  );
  expect(others).toEqual([]);
  expect(concern).toMatchObject({ values: { count: 2 }, at: '2026-03-10T23:30:00.000Z' });
});

test('a node that has never connected has no last heartbeat', () => {
  const node: Node = {
    id: '5f7b2a58-3f0f-4b43-8b0a-1f1e8a4f7d10',
    name: 'gpu-1',
    host: null,
    hosts: [],
    version: '1',
    status: 'offline',
    gpus: [],
    gpu_utilization: null,
    models: [],
    created_at: '2026-03-10T00:00:00Z',
    connected_at: null,
    last_heartbeat_at: null,
  };
  const heard = { ...node, last_heartbeat_at: '2026-03-10T23:00:00Z' };
  expect(concernsOf({ nodes: [node, heard] }, NOW)).toMatchObject([
    { text: 'attention.node.never', values: { name: 'gpu-1' } },
    { text: 'attention.node', at: heard.last_heartbeat_at },
  ]);
});
