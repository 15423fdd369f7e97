import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

// A call that reads more rows the more there are gets slower for the whole life of an installation.

const ROWS = 1_000;
const TIMES = 20;
/** Rows that a call itself adds, and pages of an index that another plan reads. */
const MORE_MAX = 20;

type Call = (server: RpcServer, scene: Scene) => Promise<unknown>;

interface Scene {
  readonly token: string;
  readonly email: string;
  readonly groupId: string;
}

const must = async (
  server: RpcServer,
  method: string,
  params: object,
  { token }: Pick<Scene, 'token'>,
): Promise<Record<string, string>> => {
  const { result, error } = await server.call(method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Record<string, string>;
};

const CALLS: Readonly<Record<string, Call>> = {
  'keys.create, update, rotate and revoke': async (server, scene) => {
    const { id: key_id } = await must(server, 'keys.create', { name: 'new' }, scene);
    await must(server, 'keys.update', { key_id, name: 'newer' }, scene);
    await must(server, 'keys.rotate', { key_id }, scene);
    await must(server, 'keys.revoke', { key_id }, scene);
  },
  'keys.list': (server, scene) => must(server, 'keys.list', {}, scene),
  'group.credits.topup': (server, scene) =>
    must(server, 'group.credits.topup', { group_id: scene.groupId, points: 5 }, scene),
  'group.credits.allocate': (server, scene) =>
    must(
      server,
      'group.credits.allocate',
      { group_id: scene.groupId, user_id: scene.email, points: 1 },
      scene,
    ),
  'group.credits.balance': (server, scene) =>
    must(server, 'group.credits.balance', { group_id: scene.groupId }, scene),
  'ledger.self': (server, scene) => must(server, 'ledger.self', {}, scene),
  'a look at an account without entries': ({ test: { context } }) =>
    context.database.billingFacts.account({ type: 'user', id: newId() }),
  'billing.plan': (server, scene) => must(server, 'billing.plan', {}, scene),
  'usage.list': (server, scene) => must(server, 'usage.list', {}, scene),
  'video.list': (server, scene) => must(server, 'video.list', {}, scene),
};

let server: RpcServer;
const few = new Map<string, number>();
const many = new Map<string, number>();

beforeAll(async () => {
  server = await startRpc();
  const account = await server.createAccount('owner@example.com');
  const busy = await server.createAccount('busy@example.com');
  const { id: groupId = '' } = await must(server, 'group.create', { name: 'group' }, account);
  const scene = { ...account, groupId };
  await CALLS['group.credits.topup']?.(server, scene);
  await CALLS['group.credits.allocate']?.(server, scene);
  await server.test.query(
    `INSERT INTO ledger_accounts (owner_type, owner_id) VALUES ('user', $1)`,
    [busy.id],
  );
  await fill(account.id, busy.id, ROWS);
  await measure(scene, few);
  await fill(account.id, busy.id, ROWS * (TIMES - 1));
  await measure(scene, many);
});
afterAll(() => server.test.close());

test.each(Object.keys(CALLS))('with twenty times the rows %s reads no more rows', (name) => {
  expect(few.get(name)).toBeGreaterThan(0);
  expect(many.get(name)).toBeLessThanOrEqual((few.get(name) ?? 0) + MORE_MAX);
});

/** Adds what use leaves behind: revoked keys, requests and videos of the user, and entries of another account. */
async function fill(userId: string, busyId: string, count: number): Promise<void> {
  await server.test.query(
    `INSERT INTO api_keys (user_id, name, key_prefix, key_hash, key_hint, created_at, revoked_at)
     SELECT $1, '', 'service-', md5(n || $3) || md5(n::text), '', now() - n * INTERVAL '1 ms', now()
     FROM generate_series(1, $2::int) n`,
    [userId, count, newId()],
  );
  await server.test.query(
    `INSERT INTO ledger_entries (account_id, delta, balance_after, kind)
     SELECT id, 1, 1, 'usage' FROM ledger_accounts, generate_series(1, $2::int) WHERE owner_id = $1`,
    [busyId, count],
  );
  await server.test.query(
    `INSERT INTO usage_records
       (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, user_id, created_at)
     SELECT 'jwt', 'm', 'b', 1, 1, 2, $1, now() - n * INTERVAL '1 ms' FROM generate_series(1, $2::int) n`,
    [userId, count],
  );
  await server.test.query(
    `INSERT INTO video_jobs (user_id, api_key_id, model, resolved_model, request, status, created_at)
     SELECT $1, 'jwt', 'm', 'm', '{}', 'done', now() - n * INTERVAL '1 ms' FROM generate_series(1, $2::int) n`,
    [userId, count],
  );
  await server.test.query('VACUUM ANALYZE');
}

async function measure(scene: Scene, read: Map<string, number>): Promise<void> {
  for (const [name, call] of Object.entries(CALLS)) {
    const before = await rowsRead();
    // The first attempt may get a connection that has just ended.
    await waitUntil(() => call(server, scene).then(() => true), { what: name });
    read.set(name, (await rowsRead()) - before);
  }
}

/** The rows of the filled tables that were read so far; connections report them when they end. */
async function rowsRead(): Promise<number> {
  const ended = await server.test.query(`
    SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
  const running = 'SELECT 1 FROM pg_stat_activity WHERE pid = ANY ($1)';
  const pids = [ended.map(({ pid }) => pid)];
  await waitUntil(async () => (await server.test.query(running, pids)).length === 0);
  const [row] = await server.test.query(`
    SELECT sum(seq_tup_read + (
      SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes i WHERE i.relid = t.relid
    ))::int AS rows
    FROM pg_stat_user_tables t
    WHERE relname IN ('api_keys', 'ledger_entries', 'ledger_accounts', 'video_jobs') OR relname LIKE 'usage%'`);
  return Number(row?.['rows']);
}
