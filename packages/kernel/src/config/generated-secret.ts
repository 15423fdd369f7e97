import { randomBytes } from 'node:crypto';
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unwritableError } from '../errors/startup-problems.ts';
import { randomToken } from '../ids.ts';
import { makeDirectory } from '../processes/make-directory.ts';

interface GeneratedSecret {
  readonly value: string;
  readonly file: string;
  /** True for the one caller that created it. */
  readonly created: boolean;
}

/**
 * A secret that is created once per data directory and stored there, readable only by its owner. Processes that start
 * at the same time get the same value.
 */
export async function generatedSecret(dataDir: string, name: string): Promise<GeneratedSecret> {
  const folder = join(dataDir, 'secrets');
  const file = join(folder, name);
  try {
    await makeDirectory(folder, 0o700);
    const existing = await readSecret(file);
    if (existing !== undefined) return { value: existing, file, created: false };
    const value = randomBytes(32).toString('base64');
    const draft = `${file}.${randomToken(6)}`;
    await writeFile(draft, `${value}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(draft, 0o600);
    // Creating a link is atomic and fails where another process was first.
    const created = await link(draft, file).then(
      () => true,
      () => false,
    );
    await rm(draft, { force: true });
    return { value: (await readSecret(file)) ?? value, file, created };
  } catch (error) {
    throw unwritableError(dataDir, error);
  }
}

async function readSecret(file: string): Promise<string | undefined> {
  const content = await readFile(file, 'utf8').catch(() => undefined);
  const value = content?.trim();
  return value === undefined || value === '' ? undefined : value;
}
