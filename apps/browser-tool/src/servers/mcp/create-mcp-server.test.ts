import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { createDeferred } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { createMcpServer } from './create-mcp-server.ts';

test('a client has at most 100 unfinished calls', async () => {
  const opened = createDeferred<BrowserTool>();
  const server = createMcpServer(() => opened.promise);
  const client = new Client({ name: 'test', version: '1' });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  const call = () => client.callTool({ name: 'browser_snapshot', arguments: {} });

  const waiting = Array.from({ length: 100 }, call);
  expect(await call()).toMatchObject({
    isError: true,
    structuredContent: { ok: false, code: 'LIMIT_REACHED', details: { calls_max: 100 } },
  });
  opened.reject(new Error('no browser'));
  for (const result of await Promise.all(waiting)) {
    expect(result).toMatchObject({ structuredContent: { ok: false, code: 'INTERNAL' } });
  }
  expect(await call()).toMatchObject({ structuredContent: { code: 'INTERNAL' } });
  await client.close();
});
