import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hook } from '@model-gateway/inference';
import { createServiceRuntime } from '@model-gateway/service';
import {
  createTestAccount,
  createTestContext,
  rpcCall,
  type TestContext,
} from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openStream } from '../rpc-server.ts';

const KINDS = ['external', 'azure', 'anthropic', 'gemini', 'local-server'];

/** Hides a word from every model, and tells it something. */
const hiding: Hook = {
  async before(call) {
    call.changeTexts(({ text }) => text.replaceAll('swordfish', 'unknown'));
    call.insert([{ role: 'system', content: 'Words are hidden.' }]);
    return undefined;
  },
};

/** Refuses every chat, and keeps what it was sent. */
async function startRefusingUpstream() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((parts) => {
      if (request.method === 'POST') bodies.push(Buffer.concat(parts as Buffer[]).toString());
      // Only local servers are asked for what they have.
      const models = [{ name: 'local-server', model: 'local-server' }];
      if (request.url === '/api/tags') response.end(JSON.stringify({ models }));
      else response.writeHead(request.method === 'POST' ? 400 : 200).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

let upstream: Awaited<ReturnType<typeof startRefusingUpstream>>;
let booted: TestContext;
let url: string;
let token: string;

beforeAll(async () => {
  upstream = await startRefusingUpstream();
  booted = await createTestContext();
  for (const type of KINDS) {
    const backend = { name: type, type, url: upstream.url, models: [type] };
    const { backendConfigs } = booted.context.database;
    await backendConfigs.save({ ...backend, apiKey: 'secret', capabilities: null });
  }
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: 'the admin token of this test',
  });
  const runtime = createServiceRuntime(config, booted.context, { hooks: [hiding] });
  const app = createRpc(config, booted.context, { runtime });
  url = await booted.serve({
    ...app,
    start: async () => {
      await runtime.start();
      await app.start();
    },
    stop: async () => {
      await app.stop();
      await runtime.stop();
    },
  });
  ({ token } = await createTestAccount(booted.context, 'ann@example.com'));
});
afterAll(async () => {
  await booted.close();
  await upstream.close();
});

test.each(KINDS)('what a hook changes in a turn of chat.send reaches %s', async (kind) => {
  const params = {
    model: kind,
    messages: [
      { role: 'system', content: 'The code word is swordfish.' },
      { role: 'user', content: 'Not swordfish again!' },
    ],
  };
  const answer = await rpcCall(url, 'chat.send', params, token);
  expect(answer).toMatchObject({ result: { stream_id: expect.any(String), memory: 'disabled' } });
  const { stream_id } = answer.result as { stream_id: string };
  const events = await openStream(`${url}/api/rpc/events?session=${stream_id}`);
  while (!(await events.next()).includes('"is_complete":true'));
  events.close();
  const [sent = ''] = upstream.bodies.splice(0);
  expect(sent).toContain('The code word is unknown.');
  expect(sent).toContain('Not unknown again!');
  expect(sent).toContain('Words are hidden.');
  expect(sent).not.toContain('swordfish');
});
