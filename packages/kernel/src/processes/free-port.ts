import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
// Below the port ranges of outgoing connections, which could otherwise take the port before it is used.
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const ATTEMPTS_MAX = 50;
/** How long whatever is going to listen on a port may take to start. */
const RESERVED_MS = 5 * 60_000;

const reservations = new Map<number, Socket>();

/**
 * A port of this address that is not in use: the preferred one if possible. No other process gets it from this function for five
 * minutes, or until this process ends.
 */
export async function freePort(host = LOOPBACK, preferred = 0): Promise<number> {
  if (preferred >= PORT_MIN && preferred < PORT_MAX) {
    const isOwn = reservations.has(preferred);
    if (isOwn ? await isFree(preferred, host) : await claim(preferred, host)) return preferred;
  }
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (!reservations.has(port) && (await claim(port, host))) return port;
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_MAX}`);
}

async function claim(port: number, host: string): Promise<boolean> {
  if (!(await reserve(port))) return false;
  if (await isFree(port, host)) return true;
  release(port);
  return false;
}

/** The UDP port of the same number is the reservation: the system knows it in all processes, and ends it with its process. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      // Without a loopback address there is no reservation, but there may be a port.
      resolve(error.code !== 'EADDRINUSE');
    });
    socket.bind({ port, address: LOOPBACK, exclusive: true }, () => {
      reservations.set(port, socket);
      setTimeout(() => release(port), RESERVED_MS).unref();
      resolve(true);
    });
  });
}

function release(port: number): void {
  reservations.get(port)?.close();
  reservations.delete(port);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
