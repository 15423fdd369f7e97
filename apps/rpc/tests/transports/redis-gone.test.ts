import { createTestAccount, insertAccount, rpcCall, type RpcAnswer } from '@model-gateway/testkit';
import { openSocket } from '../rpc-server.ts';
import { startTwoServers, type TwoServers } from '../two-servers.ts';

const PASSWORD = 'long enough';
const WRONG = { code: -32_005, message: 'invalid email or password' };
const TAKEN = { code: -32_000, message: 'email already registered' };
const SIGNED_OUT = { code: -32_005, message: 'authentication required' };
const LOCKED = { code: -32_000, message: 'too many login attempts' };

let servers: TwoServers;
let left = '';
let right = '';
beforeAll(async () => {
  servers = await startTwoServers({ SERVICE_REGISTRATIONS_PER_MINUTE: '1' });
  [left, right] = servers.urls;
  await servers.loseRedis();
});
afterAll(() => servers.close());

const account = (email: string) => insertAccount(servers.test.context.database, email);

async function signInCall(
  url: string,
  method: 'auth.login' | 'auth.register',
  params: object,
  address: string,
): Promise<RpcAnswer> {
  const response = await fetch(`${url}/api/rpc`, {
    method: 'POST',
    headers: { 'x-forwarded-for': address },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as RpcAnswer;
}
const login = (url: string, email: string, password: string, address = '192.0.2.1') =>
  signInCall(url, 'auth.login', { email, password }, address);
const register = (url: string, address: string) =>
  signInCall(url, 'auth.register', { email: 'taken@example.com', password: PASSWORD }, address);

test('with Redis gone five failures lock the account for the address in each server', async () => {
  await account('locked@example.com');
  for (const url of [left, right]) {
    for (let count = 0; count < 5; count += 1)
      expect((await login(url, 'locked@example.com', 'wrong')).error).toEqual(WRONG);
    expect((await login(url, 'locked@example.com', PASSWORD)).error).toMatchObject(LOCKED);
    const elsewhere = await login(url, 'locked@example.com', PASSWORD, '192.0.2.2');
    expect(elsewhere.result).toMatchObject({ token_type: 'Bearer' });
  }
});

test('with Redis gone thirty failures lock the address in each server', async () => {
  await account('bystander@example.com');
  // Fewer failures each than lock an account; the passwords of existing accounts take little time to check.
  const victims = Array.from({ length: 8 }, (_, index) => `${index}@victims.example`);
  for (const email of victims) await account(email);
  const attacker = '192.0.2.66';
  for (const url of [left, right]) {
    for (let count = 0; count < 30; count += 1) {
      const { error } = await login(url, victims[count % 8] ?? '', 'wrong', attacker);
      expect(error).toEqual(WRONG);
    }
    const { error } = await login(url, 'bystander@example.com', PASSWORD, attacker);
    expect(error).toMatchObject(LOCKED);
    expect((await login(url, 'bystander@example.com', PASSWORD)).error).toBeUndefined();
  }
});

test('with Redis gone registrations are limited per address in each server', async () => {
  await account('taken@example.com');
  for (const url of [left, right]) {
    expect((await register(url, '192.0.2.3')).error).toEqual(TAKEN);
    expect((await register(url, '192.0.2.3')).error).toMatchObject({
      code: -32_000,
      message: 'too many registrations from this address: at most 1 per minute',
    });
    expect((await register(url, '192.0.2.4')).error).toEqual(TAKEN);
  }
});

test('with Redis gone a logout closes the sockets of its server, and the other serves no call of the sign-in', async () => {
  await account('leaves@example.com');
  const { result } = await login(left, 'leaves@example.com', PASSWORD);
  const token = String(Reflect.get(Object(result), 'access_token'));
  const bystander = await createTestAccount(servers.test.context, 'stays@example.com');
  const [here, there] = [await openSocket(left, token), await openSocket(right, token)];
  const staying = await openSocket(right, bystander.token);
  expect((await there.call('auth.me')).error).toBeUndefined();
  expect((await rpcCall(left, 'auth.logout', {}, token)).result).toEqual({ ok: true });
  expect(await here.closed).toBe(4401);
  expect((await there.call('auth.me')).error).toEqual(SIGNED_OUT);
  expect(await there.closed).toBe(4401);
  for (const url of [left, right])
    expect((await rpcCall(url, 'auth.me', {}, token)).error).toEqual(SIGNED_OUT);
  expect((await staying.call('auth.me')).error).toBeUndefined();
  staying.socket.terminate();
});
