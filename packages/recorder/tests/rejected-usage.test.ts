import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { createTestContext, usageEvent, type TestContext } from '@model-gateway/testkit';
import { runRejectedUsageCommand } from '../src/rejected-usage-command.ts';
import { retryRejected } from '../src/rejection.ts';
import { failedRequest } from './failed-request.ts';

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

const POINTS_PER_USD = 100;

const event = (values: Partial<UsageEvent> = {}): UsageEvent => usageEvent(newId(), values);

/** Sets an event aside that could be stored, as after a fix. */
async function setAside(one: UsageEvent): Promise<void> {
  const { rejectedUsage } = test_.context.database;
  await rejectedUsage.add({ id: one.id, event: JSON.stringify(one), error: 'no' });
}

async function rowsOf({ user_id: userId }: UsageEvent): Promise<number> {
  const { usage } = test_.context.database;
  return (await usage.list({ userId, limit: 1, offset: 0 })).total;
}

async function run(...args: readonly string[]) {
  let printed = '';
  const code = await runRejectedUsageCommand(args, {
    stores: test_.context.database,
    pointsPerUsd: POINTS_PER_USD,
    print: (text) => {
      printed += text;
    },
  });
  return { code, printed };
}

test('an event is metered once, however many try at the same time', async () => {
  const { database } = test_.context;
  const one = event();
  await setAside(one);
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, () => retryRejected(database, one.id, POINTS_PER_USD)),
  );
  const states = outcomes.map(({ state }) => state).toSorted();
  expect(states).toEqual(['metered', 'unknown', 'unknown', 'unknown', 'unknown']);
  expect(await rowsOf(one)).toBe(1);
  expect(await database.rejectedUsage.count()).toBe(0);
});

test('a retry that dies in between changes nothing, and the next one meters the event', async () => {
  const { database } = test_.context;
  const one = event();
  await setAside(one);
  const dying = {
    ...database,
    transaction: <Result>(work: Parameters<typeof database.transaction<Result>>[0]) =>
      database.transaction<Result>(async (stores) => {
        await work(stores);
        throw new Error('killed');
      }),
  };
  await expect(retryRejected(dying, one.id, POINTS_PER_USD)).rejects.toThrow('killed');
  expect([await rowsOf(one), await database.rejectedUsage.count()]).toEqual([0, 1]);
  expect(await retryRejected(database, one.id, POINTS_PER_USD)).toEqual({ state: 'metered' });
  expect([await rowsOf(one), await database.rejectedUsage.count()]).toEqual([1, 0]);
});

test('an event that was metered on another way is not metered again', async () => {
  const { database } = test_.context;
  const one = event();
  await database.usage.record([one], { pointsPerUsd: POINTS_PER_USD });
  await setAside(one);
  expect(await run('retry', one.id)).toEqual({ code: 0, printed: `${one.id} metered before\n` });
  expect(await rowsOf(one)).toBe(1);
});

test('an event that is still rejected stays, with one attempt more', async () => {
  const bad = event({ created_at: '0000-01-01T00:00:00Z' });
  await setAside(bad);
  const { code, printed } = await run('retry', bad.id);
  expect(code).toBe(1);
  expect(printed).toMatch(/ rejected again: .*out of range/);
  expect(await test_.context.database.rejectedUsage.find(bad.id)).toMatchObject({
    attempts: 2,
    error: expect.stringContaining('out of range'),
  });
});

test('failed requests that an older recorder set aside are stored by a retry', async () => {
  const { database } = test_.context;
  const userId = newId();
  const entry = { kind: 'failures', failures: [failedRequest(userId), failedRequest(userId)] };
  const rejected = { id: 'failures', event: JSON.stringify(entry), error: 'not a usage event' };
  await database.rejectedUsage.add(rejected);
  expect(await run('retry', 'failures')).toEqual({ code: 0, printed: 'failures metered\n' });
  const { requests } = await database.requestLog.list({ userId }, { limit: 10 });
  expect(requests).toHaveLength(2);
});

test('the commands list, show, retry and delete', async () => {
  expect(await run('list')).toEqual({ code: 0, printed: 'No usage event waits.\n' });
  const [one, two, three] = [event(), event(), event()];
  for (const waiting of [one, two, three]) await setAside(waiting);
  expect((await run('list')).printed).toMatch(
    new RegExp(`^(${one.id}|${two.id}|${three.id})  \\S+Z  1 attempts  no\n`),
  );
  expect((await run('list')).printed.split('\n')).toHaveLength(4);
  const shown = await run('show', one.id);
  expect(JSON.parse(shown.printed)).toMatchObject({ id: one.id, event: JSON.stringify(one) });
  expect(await run('delete', one.id)).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/ deleted\n$/),
  });
  expect(await run('show', one.id)).toEqual({ code: 1, printed: `${one.id} unknown\n` });
  expect(await run('retry', '--all')).toMatchObject({ code: 0 });
  expect(await Promise.all([one, two, three].map(rowsOf))).toEqual([0, 1, 1]);
  expect(await run('list')).toMatchObject({ printed: 'No usage event waits.\n' });
});

test.each([[], ['retry'], ['list', 'more'], ['drop', 'id'], ['show', 'a', 'b']])(
  'a command that is not understood prints the help: %j',
  async (...args) => {
    expect(await run(...args)).toMatchObject({
      code: 2,
      printed: expect.stringContaining('retry --all'),
    });
  },
);
