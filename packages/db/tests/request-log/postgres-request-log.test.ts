import type { RequestAttempt } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const failed: RequestAttempt = {
  backend: 'first',
  model: 'demo-chat',
  outcome: 'failed',
  reason: 'server_error',
  status: 503,
  ms: 4,
};
const answered: RequestAttempt = {
  backend: 'second',
  model: 'demo-chat',
  outcome: 'answered',
  reason: null,
  status: null,
  ms: 20,
};

test('the attempts of a request are unknown, not invented, when the log no longer has them', async () => {
  const userId = newId();
  const row = { user_id: userId, upstream: 'second', latency_ms: 90, first_token_ms: 20 };
  const day = (number: number): string => `2026-03-0${number}T12:00:00.000Z`;
  const retried = { ...row, attempts: [failed, answered] };
  const events = [
    usageEvent({ ...retried, created_at: day(1) }),
    usageEvent({ ...row, created_at: day(1) }),
    usageEvent({ ...retried, created_at: day(3) }),
    usageEvent({ ...row, created_at: day(3) }),
  ];
  await database.usage.record(events, { pointsPerUsd: 100 });
  const attempts = () =>
    Promise.all(
      events.map(async ({ id }) => (await database.requestLog.find(id))?.attempts ?? 'unknown'),
    );
  const both = [failed, answered];
  expect(await attempts()).toEqual([both, [answered], both, [answered]]);
  await database.requestLogStore.removeRows(new Date('2026-03-02T15:00:00.000Z'), 1_000);
  expect(await attempts()).toEqual(['unknown', 'unknown', both, [answered]]);
  const { requests } = await database.requestLog.list({ userId }, { limit: 10 });
  const old = requests.filter(({ createdAt }) => createdAt < new Date('2026-03-02'));
  expect(old.map((request) => request.attempts)).toEqual([null, null]);
});

test('a request that ends after its user was erased is kept without the id that the client chose', async () => {
  const userId = newId();
  await database.raw.query(
    `INSERT INTO users (id, email, password_hash, name) VALUES ($1, 'late@example.com', 'hash', '')`,
    [userId],
  );
  const event = () =>
    usageEvent({ user_id: userId, request_id: 'of-late', attempts: [failed, answered] });
  const [before, after] = [event(), event()];
  await database.usage.record([before], { pointsPerUsd: 100 });
  expect(await database.requestLog.find(before.id)).toMatchObject({ requestId: 'of-late' });
  await database.userDirectory.erase(userId, undefined, new Date());
  await database.userDirectory.eraseContent(userId);
  await database.usage.record([after], { pointsPerUsd: 100 });
  for (const { id } of [before, after])
    expect(await database.requestLog.find(id)).toMatchObject({
      requestId: id,
      attempts: [failed, answered],
    });
});

describe('the requests of a group over many hours', () => {
  const HOURS = 300;
  const GROUP = newId();
  const SINCE = new Date('2025-02-01T00:00:00Z');

  beforeAll(async () => {
    await database.raw.query(`SELECT usage_ensure_partitions('2025-02-01')`);
    // One in each hour; only the oldest ten are of another project.
    await database.raw.query(
      `INSERT INTO usage_records
         (user_id, group_id, project, api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, created_at)
       SELECT $1, $2, CASE WHEN hour < 10 THEN 'old' ELSE 'new' END, 'x', 'm', 'gateway', hour, 0, hour,
         $3::timestamptz + hour * interval '1 hour'
       FROM generate_series(0, $4::int - 1) AS hour`,
      [newId(), GROUP, SINCE, HOURS],
    );
  });

  test.each([
    { why: 'the newest', filter: {}, newest: HOURS - 1 },
    { why: 'those that are older than many others', filter: { project: 'old' }, newest: 9 },
  ])('a page has $why', async ({ filter, newest }) => {
    const asked = { groupId: GROUP, since: SINCE, ...filter };
    const first = await database.requestLog.list(asked, { limit: 4 });
    const second = await database.requestLog.list(asked, { limit: 4, after: first.next });
    const hours = [...first.requests, ...second.requests].map(({ promptTokens }) => promptTokens);
    expect(hours).toEqual(Array.from({ length: 8 }, (_, place) => newest - place));
  });

  test('a long page has all of them', async () => {
    const { requests, next } = await database.requestLog.list({ groupId: GROUP }, { limit: HOURS });
    expect(next).toBeUndefined();
    expect(requests).toHaveLength(HOURS);
  });
});
