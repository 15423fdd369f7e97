import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the port ranges of outgoing connections, which could otherwise take the port before it is used.
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const ATTEMPTS_MAX = 50;

/** A port of this address that is not in use: the preferred one if possible. */
export async function freePort(host = '127.0.0.1', preferred = 0): Promise<number> {
  if (preferred >= PORT_MIN && preferred < PORT_MAX && (await isFree(preferred, host)))
    return preferred;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_MAX}`);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
