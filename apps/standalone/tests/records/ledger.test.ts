import { expectRecorded, waitUntil } from '@model-gateway/testkit';
import { sendRequest, type LedgerAnswer } from './ledger-client.ts';
import { LANES, ledgerRequests, type Lane, type LedgerRequest } from './ledger-requests.ts';
import { openLedgerScene, type LedgerScene } from './ledger-scene.ts';

// What some 500 requests leave behind, with clients that leave, hedges, fallbacks, cached answers and failures: compared with what was
// recorded. `TEST_RECORD=1 npm test -- apps/standalone/tests/records` records it anew.

let scene: LedgerScene;

beforeAll(async () => {
  scene = await openLedgerScene();
});
afterAll(() => scene.close());

const recorded = (name: string): URL => new URL(`recorded/${name}.jsonl`, import.meta.url);

const keyOf = (lane: Lane) => {
  const key = scene.keys.get(lane);
  if (key === undefined) throw new Error(`${lane.name} has no key`);
  return key;
};

interface Logged {
  readonly id: string;
  readonly ref_id: string | null;
  readonly user_id: string;
  readonly request_id: string;
  readonly model: string | null;
  readonly backend: string;
  readonly upstream: string | null;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly repeats: number;
  readonly points: number | null;
  readonly attempts: readonly object[];
  readonly [field: string]: unknown;
}

/** All requests in the log. */
async function loggedRequests(): Promise<readonly Logged[]> {
  const found: Logged[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = (await scene.call('requests.list', { limit: 200, ...(cursor && { cursor }) })) as {
      readonly requests: readonly Logged[];
      readonly next_cursor: string | null;
    };
    found.push(...page.requests);
    cursor = page.next_cursor;
  }
  return found;
}

const isMetered = ({ total_tokens: tokens, status }: Logged): boolean =>
  tokens !== 0 || status === 200;

/** Ids and times are others in each run. Of some it is worth knowing whether there is one. */
const OTHERS = ['id', 'user_id', 'request_id', 'ref_id', 'created_at'];
const NAMED = ['key_id', 'group_id', 'latency_ms', 'first_token_ms', 'ms'];

/** What a row has in every run. */
const timeless = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]: readonly [string, unknown]) => {
      if (value === null || OTHERS.includes(name)) return [];
      if (Array.isArray(value)) return [[name, value.map(timeless)]];
      return [[name, NAMED.includes(name) ? 'any' : value]];
    }),
  );

test('some 500 requests leave the rows, points, log entries, ended reservations and counts that are recorded', async () => {
  const lanes = await Promise.all(
    [...ledgerRequests()].map(([lane, requests]) => sendAll(lane, requests)),
  );
  const answers = lanes.flat();
  const refused = answers.filter(({ status }) => status !== 200 && status !== null);
  let logged: readonly Logged[] = [];
  await waitUntil(async () => {
    logged = await loggedRequests();
    const failed = logged.filter((each) => !isMetered(each));
    return failed.reduce((sum, { repeats }) => sum + repeats, 0) >= refused.length;
  });
  const rows = logged.filter(isMetered);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  await expectRecorded(recorded('ledger-requests'), requestsOf(answers, rows), { charsMax: 5_000 });
  await expectRecorded(recorded('ledger-failures'), failuresOf(logged), { charsMax: 5_000 });
  await expectRecorded(recorded('ledger-accounts'), await accountsOf(rows), { charsMax: 5_000 });
  await expectRecorded(recorded('ledger-metrics'), await metricsOf(), { charsMax: 5_000 });
});

async function sendAll(lane: Lane, requests: readonly LedgerRequest[]) {
  const answers: LedgerAnswer[] = [];
  for (const request of requests) answers.push(await sendRequest(scene, keyOf(lane), request));
  return answers;
}

/** What each client saw, and the rows of its request. */
const requestsOf = (answers: readonly LedgerAnswer[], rows: readonly Logged[]) =>
  new Map(
    answers.map(({ request, ...seen }) => {
      const own = rows.filter(({ ref_id: ref }) => ref === request.ref);
      return [request.ref, { asked: request.body['model'], ...seen, rows: own.map(timeless) }];
    }),
  );

/** The failed requests of each lane, those that are alike together: whether they share a row depends on the time. */
function failuresOf(logged: readonly Logged[]): ReadonlyMap<string, number> {
  const lanes = new Map(LANES.map((lane) => [keyOf(lane).userId, lane.name]));
  const counts = new Map<string, number>();
  for (const each of logged.filter((row) => !isMetered(row))) {
    const { status, error_code: code, model, upstream } = each;
    const attempts = each.attempts.map(timeless);
    const name = JSON.stringify({
      lane: lanes.get(each.user_id),
      status,
      code,
      model,
      upstream,
      attempts,
    });
    counts.set(name, (counts.get(name) ?? 0) + each.repeats);
  }
  return new Map([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Every movement of points, and how the reservations of each lane ended. */
async function accountsOf(rows: readonly Logged[]): Promise<ReadonlyMap<string, unknown>> {
  const refs = new Map(rows.map(({ id, ref_id: ref }) => [id, ref]));
  const found = await scene.test.query(
    `SELECT owner_type, coalesce(users.email, groups.name) AS owner, kind, delta::float8 AS delta,
       balance_after::float8 AS balance_after, balance::float8 AS balance, ref
     FROM ledger_entries JOIN ledger_accounts account ON account.id = account_id
     LEFT JOIN users ON users.id = account.owner_id
     LEFT JOIN groups ON groups.id = account.owner_id
     ORDER BY ledger_entries.id`,
  );
  const accounts = new Map<string, unknown>();
  for (const { owner_type: type, owner, kind, delta, balance_after: after, ref } of found) {
    const name = `${String(type)} ${String(owner)}`;
    const entries = (accounts.get(name) ?? []) as unknown[];
    const reason = kind === 'usage' ? refs.get(String(ref)) : undefined;
    entries.push([kind, delta, after, ...(reason === undefined ? [] : [reason])]);
    accounts.set(name, entries);
  }
  for (const lane of LANES)
    accounts.set(`reservations of ${lane.name}`, scene.stores.endsOf(keyOf(lane).userId));
  return new Map([...accounts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const COUNTERS = [
  'served_requests',
  'tokens',
  'cost_usd',
  'unpriced_requests',
  'upstream_requests',
  'upstream_errors',
  'usage_recorded',
  'usage_rejected',
  'points_paid',
  'answer_cache',
];
const COUNTED = new RegExp(`^(service_(?:${COUNTERS.join('|')})_total(?:\\{.*\\})?) (.+)$`);
const COST_DIGITS = 9;

/** What the service counted, without what depends on time. */
async function metricsOf(): Promise<ReadonlyMap<string, number>> {
  const text = await scene.test.context.metrics.expose();
  const counts = text.split('\n').flatMap((line) => {
    const [, name, value] = COUNTED.exec(line) ?? [];
    // An answer is stored after its request has ended.
    return name === undefined || name.includes('stored')
      ? []
      : [[name, Number(Number(value).toFixed(COST_DIGITS))] as const];
  });
  return new Map(counts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
