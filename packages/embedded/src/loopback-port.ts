import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** The one address on which embedded stores listen. */
export const LOOPBACK = '127.0.0.1';

// Below the ranges from which systems hand out ports for outgoing connections, which could take ours while it is free.
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const ATTEMPTS_MAX = 50;

/** A free port: the one that the file remembers if nobody has taken it, else another, remembered for the next start. */
export async function rememberedPort(file: string): Promise<number> {
  const remembered = Number(await readFile(file, 'utf8').catch(() => ''));
  if (remembered >= PORT_MIN && remembered < PORT_MAX && (await isFree(remembered)))
    return remembered;
  const port = await freePort();
  await writeFile(file, `${port}\n`);
  return port;
}

/** A loopback port on which nobody listens. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_MAX}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}
