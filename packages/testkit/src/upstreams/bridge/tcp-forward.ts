import { connect, createServer, type Server, type Socket } from 'node:net';

/** The target of a forward. */
export interface ForwardTarget {
  readonly host: string;
  readonly port: number;
}

/** A local port that forwards connections to a target. */
export interface TcpForward {
  readonly port: number;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

const LOCAL_HOST = '127.0.0.1';

/** Opens a local port, but never `notPort`, and forwards each connection to the target. */
export async function openTcpForward(target: ForwardTarget, notPort?: number): Promise<TcpForward> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(target.port, target.host);
    track(near);
    track(far);
    join(near, far);
    join(far, near);
  });
  const port = await bindOtherPort(server, notPort);
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Forwards the data of one side; if it fails, the other is closed. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroySoon());
}

async function bindOtherPort(server: Server, notPort: number | undefined): Promise<number> {
  const port = await bind(server);
  if (port !== notPort) return port;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return bindOtherPort(server, notPort);
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
