import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database } from '@model-gateway/db';
import { silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  insertAccount,
  rpcCall,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type RpcAnswer,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { openSocket } from './rpc-server.ts';

const PASSWORD = 'long enough';
const WRONG = { code: -32_005, message: 'invalid email or password' };

let database: TestDatabase;
let stores: Database;
let dataDir = '';
let left: TestProcess;
let right: TestProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  stores = createDatabase({ databaseUrl: database.url, log: silentLog });
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpc-'));
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_LOG_LEVEL: 'debug',
    SERVICE_REGISTRATIONS_PER_MINUTE: '4',
  };
  [left, right] = await Promise.all([
    startProcess({ app: 'rpc', env }),
    startProcess({ app: 'rpc', env }),
  ]);
});
afterAll(async () => {
  await Promise.all([left.stop(), right.stop()]);
  await stores.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Alternates between the two processes. */
const either = (index: number): TestProcess => (index % 2 === 0 ? left : right);

const login = (server: TestProcess, email: string, password: string, clientIp = '198.51.100.1') =>
  call(server, 'auth.login', email, password, clientIp);

async function call(
  server: TestProcess,
  method: 'auth.login' | 'auth.register',
  email: string,
  password: string,
  clientIp: string,
): Promise<RpcAnswer> {
  const response = await fetch(`${server.url}/api/rpc`, {
    method: 'POST',
    headers: { 'x-forwarded-for': clientIp },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { email, password },
    }),
  });
  return (await response.json()) as RpcAnswer;
}

/** Its password takes little time to check: the cost of that has tests of its own. */
const account = (email: string) => insertAccount(stores, email);

function expectLocked({ error }: RpcAnswer): void {
  expect(error).toEqual({
    code: -32_000,
    message: 'too many login attempts',
    data: { retry_after_secs: expect.any(Number) },
  });
  const secs: unknown = Reflect.get(Object(error?.data), 'retry_after_secs');
  expect(Number.isInteger(secs)).toBe(true);
  // Some time may have passed on a loaded machine.
  expect(secs).toBeGreaterThan(600);
  expect(secs).toBeLessThanOrEqual(900);
}

test('five failures on two processes lock the account for the address on both, for the right password too', async () => {
  await account('locked@example.com');
  for (let index = 0; index < 5; index += 1)
    expect((await login(either(index), 'locked@example.com', 'wrong')).error).toEqual(WRONG);
  for (const server of [left, right]) {
    expectLocked(await login(server, 'locked@example.com', PASSWORD));
    expectLocked(await login(server, 'Locked@Example.com ', 'wrong'));
  }
  const { error } = await login(left, 'locked@example.com', PASSWORD, '198.51.100.77');
  expect(error).toBeUndefined();
});

test('an unknown email is locked like any other', async () => {
  const ip = '198.51.100.11';
  for (let index = 0; index < 5; index += 1)
    expect((await login(either(index), 'missing@example.com', 'wrong', ip)).error).toEqual(WRONG);
  expectLocked(await login(left, 'missing@example.com', 'wrong', ip));
  expectLocked(await login(right, 'missing@example.com', 'wrong', ip));
});

test('a success clears the failures of the account from the address', async () => {
  const ip = '198.51.100.20';
  await account('clears@example.com');
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 4; index += 1)
      expect((await login(either(index), 'clears@example.com', 'wrong', ip)).error).toEqual(WRONG);
    expect((await login(right, 'clears@example.com', PASSWORD, ip)).error).toBeUndefined();
  }
});

test('of fifty concurrent wrong attempts on two processes only five are checked', async () => {
  await account('rush@example.com');
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      login(either(index), 'rush@example.com', `wrong ${index}`, '203.0.113.1'),
    ),
  );
  const checked = answers.filter(({ error }) => error?.code === -32_005);
  const refused = answers.filter(({ error }) => error?.code === -32_000);
  expect([checked.length, refused.length]).toEqual([5, 45]);
  for (const answer of refused) expectLocked(answer);
});

test('fifty concurrent right attempts on two processes all succeed', async () => {
  await account('welcome@example.com');
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      login(either(index), 'welcome@example.com', PASSWORD, '198.51.100.40'),
    ),
  );
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('thirty failures from one address lock it for every account, and no other address', async () => {
  await account('bystander@example.com');
  const attacker = '192.0.2.66';
  for (let index = 0; index < 30; index += 1) {
    await account(`${index}@victims.example`);
    const { error } = await login(either(index), `${index}@victims.example`, 'wrong', attacker);
    expect(error).toEqual(WRONG);
  }
  expectLocked(await login(left, 'bystander@example.com', PASSWORD, attacker));
  expectLocked(await login(right, 'bystander@example.com', PASSWORD, attacker));
  expect((await login(right, 'bystander@example.com', PASSWORD)).error).toBeUndefined();
});

test('a hundred failures lock the account for addresses that never signed in to it', async () => {
  await account('besieged@example.com');
  const home = '192.0.2.100';
  expect((await login(left, 'besieged@example.com', PASSWORD, home)).error).toBeUndefined();
  const attempts = Array.from({ length: 100 }, (_, index) =>
    login(either(index), 'besieged@example.com', 'wrong', `203.0.113.${index + 100}`),
  );
  expect((await Promise.all(attempts)).map(({ error }) => error)).toEqual(
    Array.from({ length: 100 }, () => WRONG),
  );
  for (const server of [left, right]) {
    expectLocked(await login(server, 'besieged@example.com', PASSWORD, '192.0.2.101'));
    expect((await login(server, 'besieged@example.com', PASSWORD, home)).error).toBeUndefined();
  }
  expect((await login(left, 'bystander@example.com', PASSWORD, '192.0.2.101')).error).toBe(
    undefined,
  );
});

test('registrations of one address are counted over both processes', async () => {
  await account('registered@example.com');
  const register = (server: TestProcess, clientIp: string) =>
    call(server, 'auth.register', 'registered@example.com', PASSWORD, clientIp);
  for (let index = 0; index < 4; index += 1) {
    const { error } = await register(either(index), '192.0.2.120');
    expect(error?.message).toBe('email already registered');
  }
  for (const server of [left, right]) {
    expect((await register(server, '192.0.2.120')).error).toEqual({
      code: -32_000,
      message: 'too many registrations from this address: at most 4 per minute',
      data: { retry_after_secs: expect.any(Number) },
    });
  }
  const { error } = await register(left, '192.0.2.121');
  expect(error?.message).toBe('email already registered');
});

test('a sign-out at one process closes the sockets of the sign-in at both', async () => {
  await account('leaves@example.com');
  const signedIn = await login(left, 'leaves@example.com', PASSWORD, '192.0.2.130');
  const staying = await login(left, 'leaves@example.com', PASSWORD, '192.0.2.130');
  const tokenOf = ({ result }: RpcAnswer) => (result as { access_token: string }).access_token;
  const token = tokenOf(signedIn);
  const sockets = await Promise.all([left, right].map(({ url }) => openSocket(url, token)));
  const other = await openSocket(right.url, tokenOf(staying));
  expect((await rpcCall(left.url, 'auth.logout', {}, token)).result).toEqual({ ok: true });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
  expect((await other.call('auth.me')).error).toBeUndefined();
  other.socket.terminate();
});

test('neither passwords nor tokens reach the log', async () => {
  const email = 'secret@example.com';
  const password = 'the right password of the tests';
  const answer = await rpcCall(left.url, 'auth.register', { email, password });
  const { access_token, refresh_token } = answer.result as Record<string, string>;
  await rpcCall(left.url, 'auth.refresh', { refresh_token });
  await rpcCall(left.url, 'auth.refresh', { refresh_token });
  await rpcCall(left.url, 'auth.register', { email, password });
  await login(left, email, 'a wrong secret of the tests');
  const output = `${left.output()}\n${right.output()}`;
  expect(output).toContain('a refresh token was reused');
  for (const secret of [password, 'a wrong secret', access_token, refresh_token]) {
    expect(output).not.toContain(secret);
  }
});
