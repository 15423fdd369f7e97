import { manualClock, silentLog, type Locks } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { createRetention } from '../src/retention.ts';

const free: Locks = {
  acquire: () =>
    Promise.resolve({ extend: () => Promise.resolve(true), release: () => Promise.resolve(true) }),
};
const NOW = Date.UTC(2026, 2, 31);

/** Stores with so many old rows, bodies and responses, which they remove in batches. */
function createScene(locks: Locks) {
  const left = { rows: 12_000, bodies: 7_000, responses: 6_000, hours: 24 };
  const before = new Set<string>();
  const remove = (what: keyof typeof left) => (until: Date, limit: number) => {
    before.add(`${what} ${until.toISOString().slice(0, 10)}`);
    const count = Math.min(limit, left[what]);
    left[what] -= count;
    return Promise.resolve(count);
  };
  const part = createRetention({
    requestLog: { removeRows: remove('rows'), removeBodies: remove('bodies') },
    responses: { removeExpired: remove('responses') },
    spendSums: { forgetHours: (now) => remove('hours')(now, left.hours) },
    locks,
    clock: manualClock(NOW),
    log: silentLog,
    rowDays: 30,
    bodyDays: 7,
  });
  return { part, left, before };
}

test('what is too old is deleted, all of it, in batches', async () => {
  const { part, left, before } = createScene(free);
  await part.start();
  await waitUntil(() => left.hours === 0);
  await part.stop();
  expect(left).toEqual({ rows: 0, bodies: 0, responses: 0, hours: 0 });
  expect([...before]).toEqual([
    'responses 2026-03-31',
    'bodies 2026-03-24',
    'rows 2026-03-01',
    'hours 2026-03-31',
  ]);
});

test('one process deletes at a time', async () => {
  const { part, left } = createScene({ acquire: () => Promise.resolve(undefined) });
  await part.start();
  await part.stop();
  expect(left.rows).toBe(12_000);
});
