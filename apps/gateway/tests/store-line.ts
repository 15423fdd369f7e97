import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a store that can be cut off to simulate an outage. */
export interface StoreLine {
  readonly url: string;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function openStoreLine(storeUrl: string): Promise<StoreLine> {
  const store = new URL(storeUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const upstream = connect(Number(store.port), store.hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(store);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    cut,
    restore: () => {
      isCut = false;
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
