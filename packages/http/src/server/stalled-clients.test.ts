import { once } from 'node:events';
import { connect } from 'node:net';
import { createMetrics, silentLog } from '@model-gateway/kernel';
import { listen } from './http-server.ts';
import { sendText } from '../responses/rest-errors.ts';

/** More than the kernel and a client that does not read take. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, 'x');

test('a client that takes nothing is disconnected, and one that waits for its answer is not', async () => {
  let onLeft = (): void => undefined;
  const left = new Promise<void>((resolve) => (onLeft = resolve));
  const server = await listen({
    app: {
      routes: [],
      handle(request, response) {
        if (request.url === '/large') {
          response.on('close', onLeft).end(LARGE);
          return;
        }
        // Twice as long as a client may stall.
        void left.then(() => setTimeout(() => sendText(response, 200, 'thought'), 400));
      },
    },
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    metrics: createMetrics(),
    clientStallSecs: 0.2,
  });
  const waiting = fetch(`http://127.0.0.1:${server.port}/slow`);
  const stalled = connect(server.port, '127.0.0.1');
  stalled.on('error', () => undefined).pause();
  stalled.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
  await left;
  expect(await (await waiting).text()).toBe('thought');
  stalled.destroy();
  if (!stalled.closed) await once(stalled, 'close');
  await server.drain();
});
