import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { randomToken } from '@model-gateway/kernel';
import { LOOPBACK } from './loopback-port.ts';

/** A Redis in JavaScript inside this process, only for the video queue. It stores nothing on disk. */
export interface QueueRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts it on a free loopback port. It uses the library's parts, because its own server listens on every address, requires no
 * password, and does not end a blocking command when the client disconnects.
 */
export async function startQueueRedis(): Promise<QueueRedis> {
  // Loaded on demand: it is large, and most machines have a Redis.
  const { attachSession, createRedisCommandExecutor, RedisServerState, SocketConnectionTransport } =
    await import('js-redis-server/core');
  const password = randomToken();
  const state = new RedisServerState({ databaseCount: 1, requirepass: password });
  const executor = createRedisCommandExecutor();
  const sockets = new Set<Socket>();
  const server = createServer({ keepAlive: true }, (socket) => {
    const { session } = attachSession(new SocketConnectionTransport(socket), { state, executor });
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      session.close();
    });
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  return {
    url: `redis://:${password}@${LOOPBACK}:${portOf(server.address())}`,
    async stop() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of sockets) socket.destroy();
      await closed;
      state.close();
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
