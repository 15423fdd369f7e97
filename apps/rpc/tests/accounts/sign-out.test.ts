import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus } from '@model-gateway/bus';
import { silentLog } from '@model-gateway/kernel';
import { rpcCall, type RpcAnswer } from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import {
  openSocket,
  openStream,
  startRpc,
  type RpcServer,
  type TestStream,
} from '../rpc-server.ts';

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
}

const REFUSED = { code: -32_005, message: 'authentication required' };

let rpc: RpcServer;
/** A second server with the same stores: like another process. */
let otherUrl = '';
let adminToken = '';
beforeAll(async () => {
  rpc = await startRpc();
  adminToken = (await rpc.createAccount('admin@example.com')).token;
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  otherUrl = await rpc.test.serve(createRpc(config, rpc.test.context));
});
let closeLast = async (): Promise<void> => undefined;
afterAll(async () => {
  await rpc.test.close();
  await closeLast();
});

async function signIn(email: string): Promise<SignedIn> {
  const { result } = await rpc.call('auth.login', { email, password: 'long enough' });
  return result as SignedIn;
}
const refresh = (refresh_token: string): Promise<RpcAnswer> =>
  rpc.call('auth.refresh', { refresh_token });

test('auth.logout ends its sign-in on every server and no other sign-in', async () => {
  await rpc.createAccount('leaves@example.com');
  const [leaving, staying] = [
    await signIn('leaves@example.com'),
    await signIn('leaves@example.com'),
  ];
  const sockets = await Promise.all([
    openSocket(rpc.url, leaving.access_token),
    openSocket(otherUrl, leaving.access_token),
  ]);
  const other = await openSocket(otherUrl, staying.access_token);
  expect((await rpc.call('auth.logout', {}, leaving.access_token)).result).toEqual({ ok: true });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
  expect((await refresh(leaving.refresh_token)).error).toEqual({
    code: -32_005,
    message: 'invalid refresh token',
  });
  for (const url of [rpc.url, otherUrl]) {
    expect((await rpcCall(url, 'auth.me', {}, leaving.access_token)).error).toEqual(REFUSED);
  }
  expect((await other.call('auth.me')).result).toMatchObject({ email: 'leaves@example.com' });
  expect((await refresh(staying.refresh_token)).error).toBeUndefined();
  other.socket.terminate();
});

async function listen(url: string, token?: string): Promise<TestStream> {
  const query = token === undefined ? '' : `&token=${token}`;
  const stream = await openStream(`${url}/api/rpc/events?session=listens${query}`);
  expect(await stream.next()).toBe(': connected');
  return stream;
}

/** The streams still receive what is sent to their session. */
async function expectOpen(streams: readonly TestStream[]): Promise<void> {
  await fetch(`${otherUrl}/api/rpc`, {
    method: 'POST',
    headers: { 'x-session-id': 'listens' },
    body: '{"jsonrpc":"2.0","id":"later","method":"no.such"}',
  });
  for (const stream of streams) {
    expect(await stream.next()).toContain('"id":"later"');
    stream.close();
  }
}

test('auth.logout ends the event streams of its sign-in on every server and no others', async () => {
  await rpc.createAccount('listens@example.com');
  const [leaving, staying] = [
    await signIn('listens@example.com'),
    await signIn('listens@example.com'),
  ];
  const ending = [
    await listen(rpc.url, leaving.access_token),
    await listen(otherUrl, leaving.access_token),
  ];
  const others = [await listen(otherUrl, staying.access_token), await listen(otherUrl)];
  await rpc.call('auth.logout', {}, leaving.access_token);
  for (const stream of ending) await expect(stream.next()).rejects.toThrow('the stream ended');
  await expectOpen(others);
});

test('the event streams of a deactivated user end on every server, and no others', async () => {
  const { id, token } = await rpc.createAccount('hears@example.com');
  const { access_token } = await signIn('hears@example.com');
  const ending = [await listen(rpc.url, token), await listen(otherUrl, access_token)];
  const others = [await listen(otherUrl, adminToken), await listen(otherUrl)];
  await rpc.call('users.update', { user_id: id, active: false }, adminToken);
  for (const stream of ending) await expect(stream.next()).rejects.toThrow('the stream ended');
  await expectOpen(others);
});

test('auth.logout on a socket is answered before the socket closes', async () => {
  await rpc.createAccount('socket@example.com');
  const { access_token } = await signIn('socket@example.com');
  const socket = await openSocket(rpc.url, access_token);
  expect((await socket.call('auth.logout')).result).toEqual({ ok: true });
  expect(await socket.closed).toBe(4401);
});

test('a call after auth.logout in the same batch is refused', async () => {
  await rpc.createAccount('batch@example.com');
  const { access_token } = await signIn('batch@example.com');
  const socket = await openSocket(rpc.url, access_token);
  socket.send(
    '[{"jsonrpc":"2.0","id":1,"method":"auth.logout"},{"jsonrpc":"2.0","id":2,"method":"keys.list"}]',
  );
  expect(JSON.parse(await socket.next())).toEqual([
    { jsonrpc: '2.0', id: 1, result: { ok: true } },
    { jsonrpc: '2.0', id: 2, error: REFUSED },
  ]);
  expect(await socket.closed).toBe(4401);
});

test('a token of an ended sign-in opens only an anonymous socket', async () => {
  await rpc.createAccount('late@example.com');
  const { access_token } = await signIn('late@example.com');
  await rpc.call('auth.logout', {}, access_token);
  const socket = await openSocket(otherUrl, access_token);
  expect((await socket.call('auth.me')).error).toEqual(REFUSED);
  expect((await socket.call('system.status')).error).toBeUndefined();
  socket.socket.terminate();
});

test('the reuse of a refresh token closes the sockets of its family', async () => {
  await rpc.createAccount('stolen@example.com');
  const first = await signIn('stolen@example.com');
  const bystander = await openSocket(otherUrl, (await signIn('stolen@example.com')).access_token);
  const second = (await refresh(first.refresh_token)).result as SignedIn;
  const sockets = await Promise.all([
    openSocket(rpc.url, first.access_token),
    openSocket(otherUrl, second.access_token),
  ]);
  expect((await refresh(first.refresh_token)).error).toMatchObject({ code: -32_005 });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
  expect((await bystander.call('auth.me')).error).toBeUndefined();
  bystander.socket.terminate();
});

test('a server that missed the announcement serves no call of an ended sign-in', async () => {
  const { id } = await rpc.createAccount('missed@example.com');
  const { access_token } = await signIn('missed@example.com');
  const socket = await openSocket(otherUrl, access_token);
  expect((await socket.call('auth.me')).error).toBeUndefined();
  // Stored, but announced to no process.
  await rpc.test.context.database.refreshTokens.revokeUser(id, new Date());
  expect((await socket.call('keys.list')).error).toEqual(REFUSED);
  expect(await socket.closed).toBe(4401);
});

test('a deactivated user is signed out everywhere', async () => {
  const { id, token } = await rpc.createAccount('deactivated@example.com');
  const { access_token, refresh_token } = await signIn('deactivated@example.com');
  const sockets = await Promise.all([
    openSocket(rpc.url, token),
    openSocket(otherUrl, access_token),
  ]);
  const setActive = (active: boolean): Promise<RpcAnswer> =>
    rpc.call('users.update', { user_id: id, active }, adminToken);
  expect((await setActive(false)).result).toMatchObject({ id, active: false });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
  expect((await rpc.call('auth.me', {}, access_token)).error).toEqual(REFUSED);
  expect((await refresh(refresh_token)).error).toMatchObject({ code: -32_005 });
  const login = { email: 'deactivated@example.com', password: 'long enough' };
  expect((await rpc.call('auth.login', login)).error).toEqual({
    code: -32_005,
    message: 'invalid email or password',
  });
  expect((await setActive(true)).result).toMatchObject({ id, active: true });
  // The sign-ins from before stay ended.
  expect((await refresh(refresh_token)).error).toMatchObject({ code: -32_005 });
  expect((await rpc.call('auth.login', login)).error).toBeUndefined();
});

test('without Redis the sockets of the process itself are closed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpc-'));
  const bus = createBus({ dataDir, log: silentLog });
  closeLast = async () => {
    await bus.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  await bus.start();
  const config = readRpcConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  const url = await rpc.test.serve(createRpc(config, { ...rpc.test.context, bus }));
  await rpc.createAccount('alone@example.com');
  const login = { email: 'alone@example.com', password: 'long enough' };
  const { access_token } = (await rpcCall(url, 'auth.login', login)).result as SignedIn;
  const socket = await openSocket(url, access_token);
  const elsewhere = await openSocket(otherUrl, access_token);
  await rpcCall(url, 'auth.logout', {}, access_token);
  expect(await socket.closed).toBe(4401);
  // The other process did not hear of it, but the database did.
  expect((await elsewhere.call('auth.me')).error).toEqual(REFUSED);
  expect(await elsewhere.closed).toBe(4401);
});
