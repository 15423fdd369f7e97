import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire to a server that can be cut and mended: what the clients of a server that goes away and comes back see. */
export interface CuttableProxy {
  readonly url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  restore(): Promise<void>;
  /** Takes connections and never answers. */
  silence(): void;
  /** What clients send arrives no more; what the server sends does. */
  hold(): void;
  /** Ends every connection, and connects new ones to another server. */
  redirect(url: string): void;
  close(): Promise<void>;
}

export async function createCuttableProxy(targetUrl: string): Promise<CuttableProxy> {
  let target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isSilent = false;
  let server = listen();
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  const { port } = address;

  function track(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }

  function listen(onPort = 0): Server {
    return createServer((client) => {
      track(client);
      clients.add(client);
      client.on('close', () => clients.delete(client));
      if (isSilent) return;
      const upstream = track(connect(Number(target.port), target.hostname));
      client.pipe(upstream).pipe(client);
    }).listen(onPort, '127.0.0.1');
  }

  async function cut(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    cut,
    restore: async () => {
      isSilent = false;
      server = listen(port);
      await once(server, 'listening');
    },
    silence: () => {
      isSilent = true;
      for (const socket of sockets) socket.destroy();
    },
    hold: () => {
      for (const client of clients) client.pause();
    },
    redirect: (other) => {
      target = new URL(other);
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
