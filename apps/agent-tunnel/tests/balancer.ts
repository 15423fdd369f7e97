import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** A load balancer for the replicas of the tunnel, with a network that can be cut. */
export interface Balancer {
  readonly url: string;
  /** The ports of the replicas; the first that accepts a connection gets it. */
  targets: readonly number[];
  /** From now on no data passes in either direction, and no connection is closed. */
  cut(): void;
  /** Ends every connection. */
  hangUp(): void;
  /** New connections pass again; the cut ones stay cut. */
  restore(): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const open = new Set<Socket>();
  const passing = new Set<Socket>();
  let isCut = false;

  async function connect(targets: readonly number[]): Promise<Socket | undefined> {
    for (const port of targets) {
      const socket = createConnection({ port, host: '127.0.0.1' });
      try {
        await once(socket, 'connect');
        return socket;
      } catch {
        socket.destroy();
      }
    }
    return undefined;
  }

  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => undefined);
    client.on('close', () => open.delete(client));
    if (isCut) return;
    void connect(balancer.targets).then((target) => {
      if (target === undefined) return void client.destroy();
      for (const [from, to] of [
        [client, target],
        [target, client],
      ] as const) {
        open.add(from);
        passing.add(from);
        from.pipe(to);
        from.on('error', () => undefined);
        from.on('close', () => {
          open.delete(from);
          if (passing.delete(from)) to.destroy();
        });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets: [],
    cut() {
      isCut = true;
      for (const socket of passing) {
        socket.unpipe();
        socket.pause();
      }
      passing.clear();
    },
    restore() {
      isCut = false;
    },
    hangUp() {
      for (const socket of open) socket.destroy();
    },
    async close() {
      balancer.hangUp();
      server.close();
      await once(server, 'close');
    },
  };
  return balancer;
}
