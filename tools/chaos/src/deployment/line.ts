import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy to one port that can be cut and slowed. */
export interface Line {
  readonly port: number;
  /** The port that new connections lead to. */
  target: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Delays everything that passes from now on by this time. */
  slow(ms: number): void;
  /** Ends the cut and the delay. */
  restore(): void;
  close(): Promise<void>;
}

export async function openLine(target: number): Promise<Line> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;

  function forward(from: Socket, to: Socket): void {
    sockets.add(from);
    // Later data must not overtake what waits for its delay.
    const waiting: Buffer[] = [];
    const write = (data: Buffer | undefined): void => {
      if (data === undefined || to.destroyed || to.write(data)) return;
      from.pause();
      to.once('drain', () => from.resume());
    };
    from.on('data', (data: Buffer) => {
      if (delayMs === 0 && waiting.length === 0) return write(data);
      waiting.push(data);
      setTimeout(() => write(waiting.shift()), delayMs);
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const store = connect(line.target, '127.0.0.1');
    store.setNoDelay(true);
    client.setNoDelay(true);
    forward(client, store);
    forward(store, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: Line = {
    port: (server.address() as AddressInfo).port,
    target,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    slow(ms) {
      delayMs = ms;
    },
    restore() {
      isCut = false;
      delayMs = 0;
    },
    async close() {
      line.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return line;
}
