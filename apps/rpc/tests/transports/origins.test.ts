import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { startRpc, type RpcServer } from '../rpc-server.ts';

const APP = 'https://app.example.com';
const FOREIGN = 'https://evil.example';

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc({ SERVICE_CORS_ORIGINS: APP });
});
afterAll(() => rpc.test.close());

const register = (origin: string, email: string): Promise<Response> =>
  fetch(`${rpc.url}/api/rpc`, {
    method: 'POST',
    // What a page may send without a preflight.
    headers: { origin, 'content-type': 'text/plain' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'auth.register',
      params: { email, password: 'long enough' },
    }),
  });

test('a call of a foreign page does nothing', async () => {
  const refused = await register(FOREIGN, 'page@example.com');
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'origin_not_allowed' } });
  expect(await rpc.test.context.database.users.findByEmail('page@example.com')).toBeUndefined();
  const served = await register(APP, 'page@example.com');
  expect(await served.json()).toMatchObject({ result: { user: { is_admin: true } } });
});

test('the event stream is refused to a foreign page', async () => {
  const open = (origin: string): Promise<Response> =>
    fetch(`${rpc.url}/api/rpc/events?session=s`, { headers: { origin } });
  expect((await open(FOREIGN)).status).toBe(403);
  const served = await open(APP);
  expect(served.status).toBe(200);
  await served.body?.cancel();
});

test('a WebSocket is refused to a foreign page, before it is open', async () => {
  const url = `${rpc.url.replace(/^http/, 'ws')}/api/rpc`;
  const foreign = new WebSocket(url, { origin: FOREIGN });
  const [, response] = (await once(foreign, 'unexpected-response')) as [unknown, IncomingMessage];
  expect(response.statusCode).toBe(403);
  expect(response.headers['x-should-retry']).toBe('false');
  expect(JSON.parse(await text(response))).toMatchObject({ error: { code: 'origin_not_allowed' } });
  const allowed = new WebSocket(url, { origin: APP });
  await once(allowed, 'open');
  allowed.close();
});
