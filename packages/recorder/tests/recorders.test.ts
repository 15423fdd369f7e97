import { newId } from '@model-gateway/kernel';
import { createTestContext, usageEvent, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createRecorder } from '../src/recorder.ts';

const WALLETS = 12;
const ROUNDS = 6;
const EVENTS_PER_ROUND = 5;
const POINTS = 1000;
const COST_USD = 0.1;

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

async function startRecorder({ bus, database, metrics, log }: TestContext['context']) {
  const recorder = createRecorder({
    journal: bus.journal,
    usage: database.usage,
    rejectedUsage: database.rejectedUsage,
    admission: bus.admission,
    onHalted: async () => undefined,
    pointsPerUsd: 100,
    metrics,
    log,
  });
  await recorder.start();
  return recorder;
}

async function addWallet(): Promise<string> {
  const userId = newId();
  await test_.query(
    `WITH account AS (
       INSERT INTO ledger_accounts (owner_type, owner_id, balance) VALUES ('user', $1, $2)
       RETURNING id, balance
     )
     INSERT INTO ledger_entries (account_id, delta, balance_after, kind)
     SELECT id, balance, balance, 'topup' FROM account`,
    [userId, POINTS],
  );
  return userId;
}

test('every event is settled once while recorders come and go, and each account keeps one line of balances', async () => {
  const { journal } = test_.context.bus;
  const wallets = await Promise.all(Array.from({ length: WALLETS }, addWallet));
  const appendRound = async (): Promise<void> => {
    const events = wallets.flatMap((userId) =>
      Array.from({ length: EVENTS_PER_ROUND }, () => usageEvent(userId, { cost: COST_USD })),
    );
    await Promise.all(
      events.map((event) => journal.append({ id: event.id, body: JSON.stringify(event) })),
    );
  };
  const isEmpty = async (): Promise<boolean> => (await journal.lag()) === 0;

  const running = [await startRecorder(test_.context)];
  for (let round = 0; round < ROUNDS; round += 1) {
    const appended = appendRound();
    // One more, then one less, while the events of the round arrive.
    running.push(await startRecorder(await test_.openPeer()));
    await running.shift()?.stop();
    if (round % 2 === 0) running.push(await startRecorder(await test_.openPeer()));
    await appended;
  }
  await waitUntil(isEmpty, { what: 'an empty journal' });
  await Promise.all(running.map((recorder) => recorder.stop()));

  const perWallet = ROUNDS * EVENTS_PER_ROUND;
  const settled = await test_.query(
    `SELECT
       count(*)::int AS wallets,
       min(used.rows)::int AS "fewestRows", max(used.rows)::int AS "mostRows",
       min(account.balance)::int AS "lowest", max(account.balance)::int AS "highest",
       sum(entries.broken)::int AS broken
     FROM ledger_accounts account
     JOIN LATERAL (
       SELECT count(*) AS rows FROM usage_records WHERE user_id = account.owner_id AND points = 10
     ) used ON true
     JOIN LATERAL (
       SELECT count(*) FILTER (WHERE balance_after <> delta + before) AS broken
       FROM (
         SELECT balance_after, delta, lag(balance_after, 1, 0) OVER (ORDER BY id) AS before
         FROM ledger_entries WHERE account_id = account.id
       ) entry
     ) entries ON true
     WHERE account.owner_id = ANY ($1)`,
    [wallets],
  );
  const balance = POINTS - perWallet * 10;
  expect(settled).toEqual([
    {
      wallets: WALLETS,
      fewestRows: perWallet,
      mostRows: perWallet,
      lowest: balance,
      highest: balance,
      broken: 0,
    },
  ]);
});
