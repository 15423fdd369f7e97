import { readFile, writeFile } from 'node:fs/promises';
import { freePort } from '@model-gateway/kernel';

/** The one address on which embedded stores listen. */
export const LOOPBACK = '127.0.0.1';

/** A free port: the one in the file if it is not in use, else another, which the file keeps for the next start. */
export async function rememberedPort(file: string): Promise<number> {
  const remembered = Number(await readFile(file, 'utf8').catch(() => ''));
  const port = await freePort(LOOPBACK, remembered);
  if (port !== remembered) await writeFile(file, `${port}\n`);
  return port;
}
