import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomToken } from '@model-gateway/kernel';
import { LOCK_FILE, writing } from './data-dir-lock.ts';

/** The address that a service listens on. */
interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

const ADDRESS_FILE = 'address';
const OWNER_ONLY = 0o600;

/**
 * Writes where the holder of a data directory listens, for programs of the same user. The lock in the file shows whether it
 * is still valid after the process was killed. Returns how to remove it, which must happen before the port closes.
 */
export async function publishAddress(
  dataDir: string,
  { host, port }: ServiceAddress,
): Promise<() => Promise<void>> {
  const file = join(dataDir, ADDRESS_FILE);
  const draft = `${file}.${randomToken(6)}`;
  await writing(dataDir, async () => {
    const lock = await readFile(join(dataDir, LOCK_FILE), 'utf8');
    await writeFile(draft, JSON.stringify({ lock, host, port }), { flag: 'wx', mode: OWNER_ONLY });
    await rename(draft, file);
  });
  return () => rm(file, { force: true });
}
