import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createTestAccount, rpcCall } from '@model-gateway/testkit';
import { AGENT_TUNNEL_PATH } from '@model-gateway/router';
import { WebSocket } from 'ws';
import { startScene, type Scene } from './scene.ts';
import { connectAgent, openAgent } from './simulated-agent.ts';

const ADMIN_TOKEN = 'the admin token of the tests';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ SERVICE_ADMIN_TOKEN: ADMIN_TOKEN });
});
afterAll(() => scene.close());

/** The response to a refused upgrade. */
async function refusal(headers: Readonly<Record<string, string>>, query = '') {
  const url = `${scene.tunnelUrl.replace('http', 'ws')}/ws/agent${query}`;
  const socket = new WebSocket(url, { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = await text(response);
  return { status: response.statusCode, body };
}

test.each([
  ['no token', {}, ''],
  ['a wrong token', { authorization: 'Bearer agt-wrong' }, ''],
  ['a wrong token in the query', {}, '?token=agt-wrong'],
  ['an empty token', { authorization: 'Bearer ' }, '?token='],
])('%s is refused with 401 before the upgrade', async (_why, headers, query) => {
  expect(await refusal(headers, query)).toEqual({ status: 401, body: 'unknown agent token' });
});

test('a web page of another origin cannot connect with the token of a node, one of this address can', async () => {
  const { agent_id, token } = await scene.register('of a page');
  const authorization = `Bearer ${token}`;
  const refused = await refusal({ origin: 'https://evil.example', authorization });
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'origin_not_allowed' } });
  expect(await scene.agent(agent_id)).toMatchObject({ online: false });
  const headers = { origin: scene.tunnelUrl };
  const served = await connectAgent(scene.tunnelUrl, token, { headers });
  expect(await scene.agent(agent_id)).toMatchObject({ online: true });
  served.socket.close();
});

test('the token is read from the bearer header or from the query', async () => {
  const { agent_id, token } = await scene.register('both-ways');
  const byHeader = await connectAgent(scene.tunnelUrl, token);
  expect(byHeader.frames[0]).toEqual({
    jsonrpc: '2.0',
    id: 'hello',
    result: { agent_id, heartbeat_secs: 10 },
  });
  const byQuery = await openAgent(scene.tunnelUrl, token, { inQuery: true });
  byQuery.send({ jsonrpc: '2.0', id: 1, method: 'Agent.Hello', params: { version: '1' } });
  expect(await byHeader.closed).toMatchObject({ code: 4000 });
  byQuery.socket.close();
});

test('a second connection replaces the first, and the node stays online', async () => {
  const { agent_id, token } = await scene.register('twice');
  const first = await connectAgent(scene.tunnelUrl, token);
  const second = await connectAgent(scene.tunnelUrl, token);
  expect(await first.closed).toEqual({ code: 4000, reason: 'the agent was replaced' });
  expect(await scene.agent(agent_id)).toMatchObject({ status: 'online', online: true });
  // A connection without a hello replaces no other connection.
  const silent = await openAgent(scene.tunnelUrl, token);
  silent.socket.terminate();
  second.heartbeat();
  expect(second.socket.readyState).toBe(WebSocket.OPEN);
  second.socket.close();
});

test('deregistering closes the connection, and the token becomes invalid', async () => {
  const { agent_id, token } = await scene.register('leaving');
  const agent = await connectAgent(scene.tunnelUrl, token);
  expect(await scene.call('agents.deregister', { agent_id })).toEqual({ ok: true });
  expect(await agent.closed).toEqual({ code: 4001, reason: 'the agent was deregistered' });
  expect(await refusal({ authorization: `Bearer ${token}` })).toMatchObject({ status: 401 });
  await expect(scene.agent(agent_id)).rejects.toThrow('agent not found');
  await expect(scene.call('agents.deregister', { agent_id })).rejects.toThrow('agent not found');
});

test('a request without an upgrade gets 426', async () => {
  const url = `${scene.tunnelUrl}/ws/agent`;
  expect((await fetch(url)).status).toBe(401);
  const { token } = await scene.register('curious');
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(426);
});

describe('every path is open to one kind of credential', () => {
  const ACCEPTED: Readonly<Record<string, string>> = {
    '/ws/agent': 'node token',
    [`${AGENT_TUNNEL_PATH}/{agent}`]: 'tunnel key',
  };
  let credentials: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const removed = await scene.register('removed');
    await scene.call('agents.deregister', { agent_id: removed.agent_id });
    const user = await createTestAccount(scene.test.context, 'user@example.com');
    const signedIn = await rpcCall(scene.rpcUrl, 'auth.register', {
      email: 'registered@example.com',
      password: 'long enough',
    });
    credentials = {
      none: '',
      user: user.token,
      'platform admin': scene.adminToken,
      'admin token': ADMIN_TOKEN,
      'refresh token': (signedIn.result as { refresh_token: string }).refresh_token,
      'API key': scene.key,
      'node token': (await scene.register('matrix')).token,
      'token of a removed node': removed.token,
      'tunnel key': scene.test.context.agentTunnelKey,
    };
  });

  test('and each path is known', () => {
    expect(scene.tunnelRoutes.toSorted()).toEqual(Object.keys(ACCEPTED).toSorted());
  });

  test.each(Object.entries(ACCEPTED))('%s to a %s', async (route, accepted) => {
    const url = `${scene.tunnelUrl}${route.replace('{agent}', crypto.randomUUID())}/model/v1/models`;
    const path = route.includes('{') ? url : `${scene.tunnelUrl}${route}`;
    const served: string[] = [];
    for (const [kind, bearer] of Object.entries(credentials)) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const headers = { authorization: `Bearer ${bearer}` };
        const { status } = await fetch(path, { method, headers });
        if (status !== 401) served.push(kind);
      }
    }
    expect(served).toEqual([accepted, accepted, accepted]);
  });

  test('no other credential opens the connection of a node', async () => {
    for (const [kind, bearer] of Object.entries(credentials)) {
      if (kind === 'node token') continue;
      const headers = { authorization: `Bearer ${bearer}` };
      expect([kind, (await refusal(headers)).status]).toEqual([kind, 401]);
      const query = `?token=${encodeURIComponent(bearer)}`;
      expect([kind, (await refusal({}, query)).status]).toEqual([kind, 401]);
      expect([kind, (await refusal({ 'x-api-key': bearer })).status]).toEqual([kind, 401]);
    }
    (await openAgent(scene.tunnelUrl, credentials['node token'] ?? '')).socket.close();
  });
});
