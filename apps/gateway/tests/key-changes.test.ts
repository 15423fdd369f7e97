import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  fullSize,
  rpcCall,
  signInToProcess,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';

const ROUNDS = fullSize(50, { small: 3 });

let database: TestDatabase;
let dataDir = '';
let gateways: readonly TestProcess[] = [];
let rpc: TestProcess;
let token = '';

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-keys-'));
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  };
  const [management, ...others] = await Promise.all([
    startProcess({ app: 'rpc', env }),
    startProcess({ app: 'gateway', env }),
    startProcess({ app: 'gateway', env }),
  ]);
  rpc = management;
  gateways = others;
  token = await signIn('owner@example.com');
});
afterAll(async () => {
  await Promise.all([rpc, ...gateways].map((running) => running.stop()));
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const signIn = (email: string): Promise<string> => signInToProcess(rpc, database.url, email);

async function call(method: string, params: unknown, bearer = token): Promise<unknown> {
  const { result, error } = await rpcCall(rpc.url, method, params, bearer);
  expect(error).toBeUndefined();
  return result;
}

const createKey = async (params: object, bearer = token): Promise<{ id: string; key: string }> =>
  (await call('keys.create', { name: 'k', ...params }, bearer)) as { id: string; key: string };

/** The status of a concurrent request to each gateway. */
const statuses = (key: string): Promise<readonly number[]> =>
  Promise.all(
    gateways.map(async ({ url }) => {
      const response = await fetch(`${url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await response.text();
      return response.status;
    }),
  );

test('a key works immediately on every replica, and its revocation applies to the next request', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, key } = await createKey({});
    expect(await statuses(key)).toEqual([200, 200]);
    expect(await statuses(key)).toEqual([200, 200]);
    await call('keys.revoke', { key_id: id });
    expect(await statuses(key)).toEqual([401, 401]);
    expect(await statuses(key)).toEqual([401, 401]);
  }
});

test('the group keys of a member stop and start with the membership', async () => {
  const { id: group_id } = (await call('group.create', { name: 'Team' })) as { id: string };
  const member = await signIn('member@example.com');
  const named = { group_id, user_id: 'member@example.com' };
  await call('group.members.add', { group_id, email: 'member@example.com' });
  const { key } = await createKey({ group_id }, member);
  const personal = await createKey({}, member);
  for (let round = 0; round < ROUNDS; round += 1) {
    expect(await statuses(key)).toEqual([200, 200]);
    await call('group.members.update', { ...named, is_active: false });
    expect(await statuses(key)).toEqual([401, 401]);
    await call('group.members.update', { ...named, is_active: true });
  }
  expect(await statuses(key)).toEqual([200, 200]);
  await call('group.members.remove', named);
  expect(await statuses(key)).toEqual([401, 401]);
  expect(await statuses(personal.key)).toEqual([200, 200]);
});

test('under load no request passes after its key was revoked', async () => {
  const busy = await createKey({});
  let isOver = false;
  const load = Array.from({ length: fullSize(8, { small: 3 }) }, async () => {
    while (!isOver) expect(await statuses(busy.key)).toEqual([200, 200]);
  });
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const { id, key } = await createKey({});
    const [before] = await Promise.all([statuses(key), statuses(key)]);
    expect(before).toEqual([200, 200]);
    await call('keys.revoke', { key_id: id });
    const after = await Promise.all([statuses(key), statuses(key), statuses(key)]);
    expect(after.flat()).toEqual(after.flat().map(() => 401));
  }
  isOver = true;
  await Promise.all(load);
});
