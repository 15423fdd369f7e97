import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { WebSocketServer } from 'ws';
import { page, startSite, type Site } from '../site.ts';
import { endToolProcesses, initialize, startToolProcess } from '../tool-process.ts';

const SOCKETS = 30;
const FRAMES = 200;
const FRAME = 'x'.repeat(64 * 1024);
// Captures take at most 32 MiB of it; all frames together have 375 MiB.
const HEAP_MIB = 192;
const RECEIVED_TIMEOUT_MS = 240_000;

interface EvaluateResult {
  readonly structuredContent?: { readonly result: unknown };
}

let feed: Server;
let site: Site;

beforeAll(async () => {
  feed = createServer();
  const sockets = new WebSocketServer({ server: feed });
  sockets.on('connection', (socket) => {
    const sendNext = (frames: number): void => {
      if (frames > 0) socket.send(FRAME, () => sendNext(frames - 1));
    };
    sendNext(FRAMES);
  });
  feed.listen(0, '127.0.0.1');
  await once(feed, 'listening');
  site = await startSite({
    '/feeds': page(
      'Feeds',
      `<script>
         globalThis.received = 0;
         for (let socket = 0; socket < ${SOCKETS}; socket += 1)
           new WebSocket('ws://127.0.0.1:${(feed.address() as AddressInfo).port}/').onmessage = () => {
             received += 1;
           };
       </script>`,
    ),
  });
});
afterAll(async () => {
  endToolProcesses();
  feed.closeAllConnections();
  feed.close();
  await site.close();
});

test('a page that receives far more WebSocket frames than are kept does not fill the memory', async () => {
  const tool = startToolProcess({
    args: ['mcp'],
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
  });
  await initialize(tool);
  const ended = tool.exited.then((code) => {
    throw new Error(`the tool ended with ${code}`);
  });
  const call = async (name: string, args: object): Promise<unknown> => {
    const answer = tool.request('tools/call', { name, arguments: args });
    const { result } = await Promise.race([answer, ended]);
    return result;
  };
  await call('browser_navigate', { url: `${site.url}/feeds` });
  // A process that is out of memory ends, and answers nothing more.
  await waitUntil(
    async () => {
      const result = await call('browser_evaluate', { function: 'received' });
      return (result as EvaluateResult).structuredContent?.result === SOCKETS * FRAMES;
    },
    { timeoutMs: RECEIVED_TIMEOUT_MS, what: 'the last frame' },
  );
});
