import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCanceller } from '@model-gateway/kernel';
import { createUpstreamHttp, type UpstreamHttp } from './upstream-http.ts';

const timeouts = { connectMs: 5_000, idleMs: 60_000, totalMs: 60_000 };
const bytesMax = 1_000;

/** A server that never answers. */
async function startServer() {
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const server = createServer(() => arrive());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, arrived, close };
}

type Ask = (
  http: UpstreamHttp,
  signal: ReturnType<typeof createCanceller>['cancel'],
) => Promise<unknown>;

const post = { method: 'POST' as const, path: '/', headers: {}, body: '{}' };

describe.each<{ how: string; ask: Ask }>([
  { how: 'streamed', ask: (http, signal) => http.request({ ...post, signal }) },
  { how: 'whole', ask: (http, signal) => http.requestWhole({ ...post, signal }, bytesMax) },
])('a $how call that fails', ({ ask }) => {
  test('after it was sent may have had effects', async () => {
    const server = await startServer();
    const http = createUpstreamHttp(server.url, timeouts);
    const canceller = createCanceller();
    const call = ask(http, canceller.cancel);
    void server.arrived.then(() => canceller.abort(new Error('left')));
    await expect(call).rejects.toMatchObject({ message: 'left', hadNoEffect: false });
    await http.close();
    await server.close();
  });

  test('before it was sent had none', async () => {
    const server = await startServer();
    const http = createUpstreamHttp(server.url, timeouts);
    const canceller = createCanceller();
    canceller.abort(new Error('left'));
    await expect(ask(http, canceller.cancel)).rejects.toMatchObject({
      message: 'left',
      hadNoEffect: true,
    });
    await server.close();
    const { cancel } = createCanceller();
    await expect(ask(http, cancel)).rejects.toMatchObject({ hadNoEffect: true });
    await http.close();
  });
});
