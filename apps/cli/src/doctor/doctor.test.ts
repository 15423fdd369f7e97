import { planCheck } from './account.ts';
import { keyResult } from './api-key.ts';
import { formResult } from './error-form.ts';
import { healthCheck } from './backends.ts';
import { clockCheck, spaceCheck } from './machine.ts';
import { nodesCheck } from './nodes.ts';
import { storesCheck } from './surfaces.ts';

const GIB = 1024 ** 3;

test.each([
  { freeBytes: 50 * GIB, status: 'ok' },
  { freeBytes: GIB, status: 'warning' },
  { freeBytes: 1000, status: 'failed' },
])('$freeBytes free bytes are $status', ({ freeBytes, status }) => {
  const result = spaceCheck(freeBytes, '/data');
  expect(result.status).toBe(status);
  expect(result.next === null).toBe(status === 'ok');
});

test.each([
  { why: 'the same second', date: 10_000, status: 'ok' },
  { why: 'a slow response', date: 9_000, status: 'ok' },
  { why: 'an hour ahead', date: 3_610_000, status: 'warning' },
  { why: 'an hour behind', date: -3_590_000, status: 'warning' },
])('the clock of the service with $why is $status', ({ date, status }) => {
  const exchange = { sentAt: 10_000, receivedAt: 10_400 };
  expect(clockCheck(new Date(date).toUTCString(), exchange).status).toBe(status);
});

test('a store that is away is named, with its setting', () => {
  expect(storesCheck({ checks: { postgres: 'ok', redis: 'ok' } }).status).toBe('ok');
  const { status, message, next } = storesCheck({ checks: { postgres: 'ok', redis: 'away' } });
  expect(status).toBe('failed');
  expect(message).toContain('redis');
  expect(next).toContain('REDIS_URL');
});

const healthy = {
  name: 'one',
  type: 'external',
  state: 'Healthy',
  circuit: 'closed',
  models: ['m'],
} as const;
const away = { ...healthy, name: 'two', state: 'Unhealthy', reason: 'HTTP 401' } as const;

test.each([
  { backends: [healthy], status: 'ok', message: '1 of 1' },
  { backends: [healthy, away], status: 'warning', message: 'two is Unhealthy (HTTP 401)' },
  { backends: [away], status: 'failed', message: 'two is Unhealthy (HTTP 401)' },
  { backends: [], status: 'warning', message: 'no backend is registered' },
])('backends: $message is $status', ({ backends, status, message }) => {
  const result = healthCheck(backends);
  expect(result.status).toBe(status);
  expect(result.message).toContain(message);
});

const tiers = [
  { name: 'free', monthly_usd_quota: 1, monthly_token_quota: 100_000, rpm: 10 },
  { name: 'enterprise', monthly_usd_quota: null, monthly_token_quota: null, rpm: 1000 },
];
const plan = {
  tiers,
  current_tier: 'free',
  usage: { cost_usd: 0, tokens: 0, requests: 0 },
  remaining: { cost_usd: 1, tokens: 100_000 },
  quota_exceeded: false,
  points_balance: 0,
  points_per_usd: 100,
};

test.each([
  { why: 'an operator on a limited tier', changes: {}, isAdmin: true, status: 'warning' },
  { why: 'a user on a limited tier', changes: {}, isAdmin: false, status: 'ok' },
  { why: 'a drained tier', changes: { quota_exceeded: true }, isAdmin: false, status: 'failed' },
  {
    why: 'a drained tier with points',
    changes: { quota_exceeded: true, points_balance: 5 },
    isAdmin: false,
    status: 'warning',
  },
])('the plan of $why is $status, with the command that lifts the limit', (row) => {
  const user = { email: 'you@example.com', is_admin: row.isAdmin };
  const result = planCheck({ ...plan, ...row.changes }, user);
  expect(result.status).toBe(row.status);
  expect(result.message).toContain('10 requests a minute');
  expect(result.next).toContain('gateway plan set you@example.com enterprise');
});

test('the widest tier has nothing to lift', () => {
  const user = { email: 'you@example.com', is_admin: true };
  const widest = {
    ...plan,
    current_tier: 'enterprise',
    remaining: { cost_usd: null, tokens: null },
  };
  expect(planCheck(widest, user)).toMatchObject({ status: 'ok', next: null });
});

const online = { name: 'a', status: 'online', last_heartbeat_at: null } as const;
const offline = { name: 'b', status: 'offline', last_heartbeat_at: null } as const;

test.each([
  { nodes: [], status: 'ok', message: 'no GPU node' },
  { nodes: [online], status: 'ok', message: '1 of 1 GPU nodes' },
  { nodes: [online, offline], status: 'warning', message: 'offline: b (never connected)' },
  {
    nodes: [{ ...offline, last_heartbeat_at: '2026-01-02T03:04:05.000Z' }],
    status: 'warning',
    message: 'offline: b (last seen 2026-01-02',
  },
  { nodes: Array.from({ length: 12 }, () => offline), status: 'warning', message: ', 2 more' },
])('nodes: $message is $status', ({ nodes, status, message }) => {
  const result = nodesCheck(nodes);
  expect(result.status).toBe(status);
  expect(result.message).toContain(message);
  expect(result.next === null).toBe(status === 'ok');
});

test.each([
  { answer: { status: 200, body: {} }, status: 'ok', message: 'works' },
  { answer: { status: 401, body: 'no' }, status: 'failed', message: 'does not accept' },
  {
    answer: { status: 403, body: { error: { message: 'not from here' } } },
    status: 'failed',
    message: 'not from here',
  },
  { answer: { status: 429, body: '' }, status: 'warning', message: 'HTTP 429' },
])('an API key that is answered $answer.status is $status', ({ answer, status, message }) => {
  const result = keyResult('GATEWAY_API_KEY', answer);
  expect(result.status).toBe(status);
  expect(result.message).toContain(message);
});

const json = { body: { error: { code: 'invalid_api_key' } } };
const plain = { body: 'Missing Authorization header' };

test.each([
  { setting: 'openai', ofOthers: json, ofClients: json, status: 'ok' },
  { setting: 'auto', ofOthers: plain, ofClients: json, status: 'ok' },
  { setting: 'specified', ofOthers: plain, ofClients: plain, status: 'warning' },
])('errors of the form $setting are $status', ({ setting, ofOthers, ofClients, status }) => {
  const result = formResult(ofOthers, ofClients);
  expect(result.status).toBe(status);
  expect(result.message).toContain(`(${setting})`);
  expect(result.next === null).toBe(status === 'ok');
});
