import { createLog } from '@model-gateway/kernel';
import {
  fullSize,
  fullTest,
  insertAccount,
  rpcCall,
  type RpcAnswer,
  watchForSecrets,
} from '@model-gateway/testkit';
import { openSocket } from '../rpc-server.ts';
import { startTwoServers, type TwoServers } from '../two-servers.ts';

watchForSecrets();

const PASSWORD = 'long enough';
const WRONG = { code: -32_005, message: 'invalid email or password' };

/** Attempts at the same time. */
const AT_ONCE = fullSize(50, { small: 16 });

let servers: TwoServers;
let left = '';
let right = '';
let logged = '';

beforeAll(async () => {
  const log = createLog({
    level: 'debug',
    app: 'test',
    destination: {
      write(line) {
        logged += line;
      },
    },
  });
  servers = await startTwoServers({ SERVICE_REGISTRATIONS_PER_MINUTE: '1' }, log);
  [left, right] = servers.urls;
});
afterAll(() => servers.close());

/** Alternates between the two servers. */
const either = (index: number): string => (index % 2 === 0 ? left : right);

const login = (url: string, email: string, password: string, clientIp = '198.51.100.1') =>
  call(url, 'auth.login', email, password, clientIp);

async function call(
  url: string,
  method: 'auth.login' | 'auth.register',
  email: string,
  password: string,
  clientIp: string,
): Promise<RpcAnswer> {
  const response = await fetch(`${url}/api/rpc`, {
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
const account = (email: string) => insertAccount(servers.test.context.database, email);

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

test('five failures on two servers lock the account for the address on both, for the right password too', async () => {
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

// A password of an unknown email is checked at full cost.
fullTest('an unknown email is locked like any other', async () => {
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

test('of concurrent wrong attempts on two servers only five are checked', async () => {
  await account('rush@example.com');
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      login(either(index), 'rush@example.com', `wrong ${index}`, '203.0.113.1'),
    ),
  );
  const checked = answers.filter(({ error }) => error?.code === -32_005);
  const refused = answers.filter(({ error }) => error?.code === -32_000);
  expect([checked.length, refused.length]).toEqual([5, AT_ONCE - 5]);
  for (const answer of refused) expectLocked(answer);
});

test('concurrent right attempts on two servers all succeed', async () => {
  await account('welcome@example.com');
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      login(either(index), 'welcome@example.com', PASSWORD, '198.51.100.40'),
    ),
  );
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
});

fullTest(
  'thirty failures from one address lock it for every account, and no other address',
  async () => {
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
  },
);

fullTest(
  'a hundred failures lock the account for addresses that never signed in to it',
  async () => {
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
    await account('besieged-not@example.com');
    const other = await login(left, 'besieged-not@example.com', PASSWORD, '192.0.2.101');
    expect(other.error).toBeUndefined();
  },
);

test('registrations of one address are counted over both servers', async () => {
  await account('registered@example.com');
  const register = (url: string, clientIp: string) =>
    call(url, 'auth.register', 'registered@example.com', PASSWORD, clientIp);
  const taken = await register(left, '192.0.2.120');
  expect(taken.error?.message).toBe('email already registered');
  for (const server of [left, right]) {
    expect((await register(server, '192.0.2.120')).error).toEqual({
      code: -32_000,
      message: 'too many registrations from this address: at most 1 per minute',
      data: { retry_after_secs: expect.any(Number) },
    });
  }
  const { error } = await register(left, '192.0.2.121');
  expect(error?.message).toBe('email already registered');
});

test('a sign-out at one server closes the sockets of the sign-in at both', async () => {
  await account('leaves@example.com');
  const signedIn = await login(left, 'leaves@example.com', PASSWORD, '192.0.2.130');
  const staying = await login(left, 'leaves@example.com', PASSWORD, '192.0.2.130');
  const tokenOf = ({ result }: RpcAnswer) => (result as { access_token: string }).access_token;
  const token = tokenOf(signedIn);
  const sockets = await Promise.all([left, right].map((url) => openSocket(url, token)));
  const other = await openSocket(right, tokenOf(staying));
  expect((await rpcCall(left, 'auth.logout', {}, token)).result).toEqual({ ok: true });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
  expect((await other.call('auth.me')).error).toBeUndefined();
  other.socket.terminate();
});

test('neither passwords nor tokens reach the log', async () => {
  const email = 'secret@example.com';
  const password = 'the right password of the tests';
  const answer = await rpcCall(left, 'auth.register', { email, password });
  const { access_token, refresh_token } = answer.result as Record<string, string>;
  await rpcCall(left, 'auth.refresh', { refresh_token });
  await rpcCall(left, 'auth.refresh', { refresh_token });
  await login(left, email, 'a wrong secret of the tests');
  expect(logged).toContain('a refresh token was reused');
  for (const secret of [password, 'a wrong secret', access_token, refresh_token]) {
    expect(logged).not.toContain(secret);
  }
});
