import type { KeptBodies } from '@model-gateway/billing';
import { failedRequestsSchema, type FailedRequest } from '@model-gateway/contracts';
import { createMetrics, newId, silentLog } from '@model-gateway/kernel';
import { jwtCaller } from '../chat/caller.ts';
import { createRequestLogWriter, type FailedCall } from './request-log-writer.ts';
import { addAttempt, createRequestTrace } from './request-trace.ts';

const USER = newId();

const call = (values: Partial<FailedCall> = {}): FailedCall => ({
  caller: jwtCaller(USER),
  surface: 'gateway',
  model: 'alias',
  refId: null,
  trace: undefined,
  startedAt: undefined,
  status: 429,
  code: 'rate_limit_exceeded',
  message: 'too many',
  ...values,
});

function createScene({ isAway = false } = {}) {
  const failures: FailedRequest[] = [];
  const bodies: KeptBodies[] = [];
  const entries: string[] = [];
  const metrics = createMetrics();
  const writer = createRequestLogWriter({
    journal: {
      append: async ({ body }) => {
        if (isAway) throw new Error('away');
        entries.push(body);
        failures.push(...failedRequestsSchema.parse(JSON.parse(body)).failures);
      },
    },
    store: { addBodies: async (rows) => void bodies.push(...rows) },
    servedName: (model) => (model === 'alias' ? 'served' : undefined),
    clock: { now: () => Date.UTC(2026, 1, 2) },
    metrics,
    log: silentLog,
  });
  const dropped = async (): Promise<string | undefined> =>
    /service_request_log_dropped_total (\d+)/.exec(await metrics.expose())?.[1];
  return { writer, failures, entries, bodies, dropped };
}

test('a failure has its error, its attempts and the name that its model is counted under', async () => {
  const { writer, failures } = createScene();
  const trace = createRequestTrace(undefined, 'mine');
  const attempt = { model: 'm', reason: 'timeout', status: null, ms: 7 };
  addAttempt(trace, { ...attempt, backend: 'west', outcome: 'failed' });
  addAttempt(trace, { ...attempt, backend: 'east', outcome: 'skipped' });
  writer.failed(call({ trace }));
  writer.failed(call({ model: 'invented' }));
  writer.failed(call());
  await writer.stop();
  expect(failures).toMatchObject([
    {
      id: trace.id,
      requestId: 'mine',
      upstream: 'west',
      model: 'm',
      countedModel: 'm',
      userId: USER,
    },
    { model: 'invented', countedModel: '', upstream: null },
    { model: 'served', countedModel: 'served', repeats: 1 },
  ]);
  expect(failures[0]?.attempts).toHaveLength(2);
});

test('a request is noted once', async () => {
  const { writer, failures } = createScene();
  const trace = createRequestTrace();
  writer.failed(call({ trace }));
  writer.failed(call({ trace, status: 500 }));
  await writer.stop();
  expect(failures).toMatchObject([{ status: 429 }]);
});

test('many failures that are alike share a row, and none is lost', async () => {
  const { writer, failures, dropped } = createScene();
  for (let at = 0; at < 10_000; at += 1) writer.failed(call());
  writer.failed(call({ status: 500 }));
  await writer.stop();
  expect(failures).toHaveLength(7);
  expect(failures.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(10_001);
  expect(await dropped()).toBe('0');
});

test('failures that are too many for one entry go into several', async () => {
  const { writer, entries, failures } = createScene();
  for (let at = 0; at < 500; at += 1)
    writer.failed(call({ model: `m-${at}`, message: 'x'.repeat(2_000) }));
  await writer.stop();
  expect(failures.map(({ model }) => model)).toEqual(
    Array.from({ length: 500 }, (_, at) => `m-${at}`),
  );
  expect(entries.length).toBeGreaterThan(8);
  for (const entry of entries) expect(entry.length).toBeLessThan(66_000);
});

test('too many failures are dropped and counted, and so are those that cannot be written', async () => {
  const full = createScene();
  for (let at = 0; at < 2_010; at += 1) full.writer.failed(call({ model: `m-${at}` }));
  await full.writer.stop();
  expect(full.failures).toHaveLength(2_000);
  expect(await full.dropped()).toBe('10');
  const away = createScene({ isAway: true });
  for (let at = 0; at < 9; at += 1) away.writer.failed(call());
  await away.writer.stop();
  expect(await away.dropped()).toBe('9');
});

test('bodies over the limit are dropped', async () => {
  const { writer, bodies, dropped } = createScene();
  const request = 'x'.repeat(6 * 1024 * 1024);
  for (let at = 0; at < 3; at += 1)
    writer.keepBodies({ id: newId(), createdAt: new Date(), userId: USER, request, answer: null });
  await writer.stop();
  expect(bodies).toHaveLength(2);
  expect(await dropped()).toBe('1');
});
