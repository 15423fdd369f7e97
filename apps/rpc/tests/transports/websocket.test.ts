import { createAccessTokens } from '@model-gateway/accounts';
import { manualClock } from '@model-gateway/kernel';
import jwt from 'jsonwebtoken';
import type { TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
let admin: TestAccount;
beforeAll(async () => {
  rpc = await startRpc({ SERVICE_ANON_WS_IDLE_SECS: '4' });
  admin = await rpc.createAccount('admin@example.com');
});
afterAll(() => rpc.test.close());

test('a token in the query authenticates the socket, also for admin methods', async () => {
  const socket = await openSocket(rpc.url, admin.token);
  expect(await socket.call('keys.list')).toEqual({ jsonrpc: '2.0', id: 1, result: [] });
  expect((await socket.call('agents.deploy', {})).error?.code).toBe(-32_602);
  expect((await socket.call('system.probe')).error?.code).toBe(-32_601);
  expect((await socket.call('no.such')).error?.code).toBe(-32_601);
  expect((await socket.call('rpc.discover')).result).toHaveProperty('methods');
  socket.socket.close();
});

test('the admin token works on a socket as a header and not in the URL', async () => {
  const socket = await openSocket(rpc.url, undefined, { authorization: `Bearer ${ADMIN_TOKEN}` });
  expect((await socket.call('billing.plan.set', {})).error?.code).toBe(-32_602);
  expect((await socket.call('keys.list')).error?.code).toBe(-32_005);
  socket.socket.close();
  const inUrl = await openSocket(rpc.url, ADMIN_TOKEN);
  expect((await inUrl.call('billing.plan.set', {})).error?.code).toBe(-32_005);
  inUrl.socket.close();
});

test('an access token works on a socket as a header, too', async () => {
  const socket = await openSocket(rpc.url, undefined, { authorization: `Bearer ${admin.token}` });
  expect((await socket.call('auth.me')).result).toMatchObject({ id: admin.id });
  socket.socket.close();
});

describe('a socket is anonymous', () => {
  const secret = () => rpc.test.context.jwtSecret;
  const claims = () => ({ sub: admin.id, iat: 1, exp: 4_000_000_000, typ: 'access' });
  test.each([
    { why: 'without a token', token: () => undefined },
    {
      why: 'with an expired token',
      token: () =>
        createAccessTokens({ secret: secret(), expiresInSecs: 1, clock: manualClock(0) }).sign(
          admin.id,
        ),
    },
    { why: 'with a tampered token', token: () => `${admin.token.slice(0, -2)}xx` },
    { why: 'with an unsigned token', token: () => jwt.sign(claims(), '', { algorithm: 'none' }) },
    {
      why: 'with the token of a missing user',
      token: () => jwt.sign({ ...claims(), sub: crypto.randomUUID() }, secret()),
    },
  ])('$why', async ({ token }) => {
    const socket = await openSocket(rpc.url, token());
    expect((await socket.call('system.status')).result).toHaveProperty('uptime_seconds');
    for (const method of [
      'keys.list',
      'no.such',
      'rpc.discover',
      'agents.list',
      'billing.plan.set',
    ]) {
      expect((await socket.call(method)).error).toEqual({
        code: -32_005,
        message: expect.stringMatching(/required/),
      });
    }
    socket.socket.close();
  });

  test('a valid token created by the test authenticates, so the refusals above are meaningful', async () => {
    const socket = await openSocket(rpc.url, jwt.sign(claims(), secret()));
    expect(await socket.call('keys.list')).toHaveProperty('result');
    socket.socket.close();
  });
});

test('the probe gets one response and the socket then closes with 1000', async () => {
  const socket = await openSocket(rpc.url);
  expect(await socket.call('system.probe', undefined, 'p')).toEqual({
    jsonrpc: '2.0',
    id: 'p',
    result: { ok: true, status: 'ok' },
  });
  expect(await socket.closed).toBe(1000);
});

test('an idle anonymous socket is closed; one with calls, or an authenticated one, stays open', async () => {
  const authenticated = await openSocket(rpc.url, admin.token);
  const silent = await openSocket(rpc.url);
  const speaking = await openSocket(rpc.url);
  const ticking = setInterval(
    () => speaking.send('{"jsonrpc":"2.0","method":"system.status"}'),
    200,
  );
  await silent.closed;
  expect(speaking.socket.readyState).toBe(speaking.socket.OPEN);
  expect(authenticated.socket.readyState).toBe(authenticated.socket.OPEN);
  clearInterval(ticking);
  await speaking.closed;
  expect(authenticated.socket.readyState).toBe(authenticated.socket.OPEN);
  authenticated.socket.close();
});

test('batches work, and ids keep their source text', async () => {
  const socket = await openSocket(rpc.url, admin.token);
  socket.send('[{"jsonrpc":"2.0","id":9007199254740993,"method":"system.status"},1]');
  const frame = await socket.next();
  expect(frame).toContain('"id":9007199254740993,"result"');
  expect(JSON.parse(frame)).toMatchObject([{ result: {} }, { error: { code: -32_600 } }]);
  socket.send('garbage');
  expect(JSON.parse(await socket.next())).toMatchObject({ id: null, error: { code: -32_700 } });
  socket.socket.close();
});

test('a slow call does not delay the next one', async () => {
  const socket = await openSocket(rpc.url, admin.token);
  socket.send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'slow',
      method: 'auth.login',
      params: { email: 'no@example.com', password: 'x' },
    }),
  );
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'quick', method: 'rpc.discover' }));
  const order = [JSON.parse(await socket.next()), JSON.parse(await socket.next())] as {
    id: string;
  }[];
  expect(order.map(({ id }) => id)).toEqual(['quick', 'slow']);
  socket.socket.close();
});

test('a frame of more than 1 MiB closes the socket with 1009', async () => {
  const socket = await openSocket(rpc.url, admin.token);
  socket.send('x'.repeat(1024 * 1024 + 1));
  expect(await socket.closed).toBe(1009);
});

test('a binary frame closes the socket', async () => {
  const socket = await openSocket(rpc.url, admin.token);
  socket.socket.send(Buffer.from('{}'), { binary: true });
  expect(await socket.closed).toBe(1003);
});

test('another path has no WebSocket', async () => {
  await expect(openSocket(`${rpc.url}/elsewhere`)).rejects.toThrow('404');
});
