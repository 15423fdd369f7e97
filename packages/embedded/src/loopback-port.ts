import { readFile, writeFile } from 'node:fs/promises';
import { freePort } from '@model-gateway/kernel';

/** The address that embedded stores listen on. */
export const LOOPBACK = '127.0.0.1';

/** A free port: the one in the file if it is not in use, otherwise another one, which is saved for the next start. */
export async function rememberedPort(file: string): Promise<number> {
  const remembered = Number(await readFile(file, 'utf8').catch(() => ''));
  const port = await freePort(LOOPBACK, remembered);
  if (port !== remembered) await writeFile(file, `${port}\n`);
  return port;
}
