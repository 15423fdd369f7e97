import { connect, createServer, type Server, type Socket } from 'node:net';

/** Where a forward leads. */
export interface ForwardTarget {
  readonly host: string;
  readonly port: number;
}

/** A local port whose connections end up somewhere else. */
export interface TcpForward {
  readonly port: number;
  readonly connectionCount: number;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

const LOCAL_HOST = '127.0.0.1';

/** Opens a local port, never the one given as `notPort`, and joins each connection to the target. */
export async function openTcpForward(target: ForwardTarget, notPort?: number): Promise<TcpForward> {
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    connectionCount += 1;
    const far = connect(target.port, target.host);
    track(near);
    track(far);
    join(near, far);
    join(far, near);
  });
  const port = await bindElsewhere(server, notPort);
  return {
    port,
    get connectionCount() {
      return connectionCount;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Passes on what one side sends; when it fails, so does the other. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroySoon());
}

async function bindElsewhere(server: Server, notPort: number | undefined): Promise<number> {
  const port = await bind(server);
  if (port !== notPort) return port;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return bindElsewhere(server, notPort);
}

function bind(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOCAL_HOST, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
