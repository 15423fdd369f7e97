import { connect } from 'node:net';
import { sessionChannel, sessionOwnerKey } from '@model-gateway/contracts';
import { randomToken } from '@model-gateway/kernel';
import { waitUntil, type TestAccount } from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openStream, startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
let owner: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  rpc = await startRpc();
  owner = await rpc.createAccount('owner@example.com');
  other = await rpc.createAccount('other@example.com');
});
afterAll(() => rpc.test.close());

const events = (session: string) =>
  `${rpc.url}/api/rpc/events?session=${encodeURIComponent(session)}`;
const publish = (session: string, message: unknown) =>
  rpc.test.context.bus.channels.publish(sessionChannel(session), JSON.stringify(message));

test('a stream sends : connected once it is live, then one data line per notification, in order', async () => {
  const session = randomToken();
  const stream = await openStream(events(session));
  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.headers.get('cache-control')).toBe('no-cache, no-transform');
  expect(stream.headers.get('x-accel-buffering')).toBe('no');
  expect(await stream.next()).toBe(': connected');
  for (let count = 0; count < 100; count += 1) await publish(session, { count });
  for (let count = 0; count < 100; count += 1)
    expect(await stream.next()).toBe(`data: {"count":${count}}`);
  stream.close();
});

test('the response of a call is copied to the session of its header, one event per response of a batch', async () => {
  const stream = await openStream(events('my.own:session-1'));
  await stream.next();
  const post = (body: string) =>
    fetch(`${rpc.url}/api/rpc`, {
      method: 'POST',
      headers: { 'x-session-id': 'my.own:session-1' },
      body,
    });
  const single = await (await post('{"jsonrpc":"2.0","id":1.0,"method":"no.such"}')).text();
  await post(
    '[{"jsonrpc":"2.0","id":"a","method":"no.such"},{"jsonrpc":"2.0","id":"b","method":"no.such"}]',
  );
  expect(await stream.next()).toBe(`data: ${single}`);
  expect(await stream.next()).toContain('"id":"a"');
  expect(await stream.next()).toContain('"id":"b"');
  stream.close();
});

test('a response with a secret is not copied to the session, and an error is', async () => {
  const stream = await openStream(events('secrets'));
  await stream.next();
  const post = async (method: string, params: object, id: string, token?: string) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${rpc.url}/api/rpc`, {
      method: 'POST',
      headers: { 'x-session-id': 'secrets', ...authorization },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    return response.text();
  };
  const login = { email: owner.email, password: 'long enough' };
  expect(await post('auth.login', login, 'a')).toContain('access_token');
  expect(await stream.next()).toBe('data: {"jsonrpc":"2.0","id":"a","result":{"pushed":false}}');
  expect(await post('keys.create', { name: 'key' }, 'b', owner.token)).toContain('"key":"service-');
  expect(await stream.next()).toBe('data: {"jsonrpc":"2.0","id":"b","result":{"pushed":false}}');
  const refused = await post('auth.login', { ...login, password: 'wrong' }, 'c');
  expect(await stream.next()).toBe(`data: ${refused}`);
  const me = await post('auth.me', {}, 'd', owner.token);
  expect(await stream.next()).toBe(`data: ${me}`);
  stream.close();
});

test('with SERVICE_SESSION_AUTH the copies of an authenticated call reach only the same user', async () => {
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_SESSION_AUTH: '1',
  });
  const url = await rpc.test.serve(createRpc(config, rpc.test.context));
  const session = `${url}/api/rpc/events?session=private`;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const [byHeader, byQuery, stranger, anonymous] = await Promise.all([
    openStream(session, bearer(owner.token)),
    openStream(`${session}&token=${owner.token}`),
    openStream(session, bearer(other.token)),
    openStream(session),
  ]);
  const streams = [byHeader, byQuery, stranger, anonymous];
  for (const stream of streams) expect(await stream.next()).toBe(': connected');
  const post = async (method: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${url}/api/rpc`, {
      method: 'POST',
      headers: { 'x-session-id': 'private', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
    });
    return response.text();
  };
  const own = await post('auth.me', bearer(owner.token));
  expect(own).toContain(owner.email);
  for (const stream of [byHeader, byQuery]) expect(await stream.next()).toBe(`data: ${own}`);
  // A batch that ends its own sign-in is still a call of its user.
  const login = { email: owner.email, password: 'long enough' };
  const { result } = await rpc.call('auth.login', login);
  const { access_token } = result as { access_token: string };
  await fetch(`${url}/api/rpc`, {
    method: 'POST',
    headers: { 'x-session-id': 'private', ...bearer(access_token) },
    body: '[{"jsonrpc":"2.0","id":"me","method":"auth.me"},{"jsonrpc":"2.0","id":"out","method":"auth.logout"}]',
  });
  for (const stream of [byHeader, byQuery]) {
    expect(await stream.next()).toContain('"id":"me"');
    expect(await stream.next()).toContain('"id":"out"');
  }
  const open = await post('providers.list', {});
  // The first that the others get is the copy of the anonymous call.
  for (const stream of streams) expect(await stream.next()).toBe(`data: ${open}`);
  for (const stream of streams) stream.close();
});

test.each(['', ' ', 'a b', 'x'.repeat(129), 'ü', 'a/b'])(
  'the session %p is refused',
  async (session) => {
    const response = await fetch(events(session));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request', code: 'bad_session' },
    });
  },
);

test('a request with two sessions is refused', async () => {
  const response = await fetch(`${events('a')}&session=b`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'bad_session' } });
});

test('a header with an invalid session is refused', async () => {
  const response = await fetch(`${rpc.url}/api/rpc`, {
    method: 'POST',
    headers: { 'x-session-id': 'a b' },
    body: '{}',
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'bad_session' } });
});

test('the session id is enough to listen, but a token of another user than the owner is refused', async () => {
  const session = randomToken();
  await rpc.test.context.bus.entries.put(sessionOwnerKey(session), owner.id, {
    expiresAfterMs: 60_000,
  });
  const open = async (headers: Readonly<Record<string, string>>, query = '') => {
    const stream = await openStream(`${events(session)}${query}`, headers);
    stream.close();
    return stream.status;
  };
  expect(await open({})).toBe(200);
  expect(await open({ authorization: `Bearer ${owner.token}` })).toBe(200);
  expect(await open({}, `&token=${owner.token}`)).toBe(200);
  expect(await open({ authorization: `Bearer ${other.token}` })).toBe(403);
  expect(await open({}, `&token=${other.token}`)).toBe(403);
});

test('a reader that does not read is disconnected and does not slow down others', async () => {
  const session = randomToken();
  const { port } = new URL(rpc.url);
  const stuck = connect(Number(port), '127.0.0.1');
  stuck.on('error', () => undefined);
  const closed = new Promise((resolve) => {
    stuck.once('close', resolve);
  });
  stuck.write(`GET /api/rpc/events?session=${session} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await new Promise((resolve) => {
    stuck.once('data', resolve);
  });
  stuck.pause();
  const reader = await openStream(events(session));
  await reader.next();
  const streams = async () =>
    (await rpc.test.context.metrics.expose()).match(/^service_rpc_event_streams (\d+)$/m)?.[1];
  expect(await streams()).toBe('2');
  const filler = 'x'.repeat(64 * 1024);
  for (let count = 0; count < 200; count += 1) {
    await publish(session, { count, filler });
    expect(await reader.next()).toContain(`"count":${count},`);
  }
  await waitUntil(async () => (await streams()) === '1', { what: 'the end of the stuck stream' });
  reader.close();
  stuck.destroy();
  await closed;
});
