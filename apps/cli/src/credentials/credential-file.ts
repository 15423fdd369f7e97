import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { withFileLock } from './file-lock.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS_MASK = 0o077;

/** A sign-in at one service. */
export interface StoredSignIn {
  readonly email: string;
  readonly access_token: string;
  /** Unix time in milliseconds, by the clock of this machine. */
  readonly expires_at: number;
  readonly refresh_token: string;
}

/** What is stored for one service. */
export interface StoredService {
  readonly sign_in?: StoredSignIn;
  readonly admin_token?: string;
}

export interface Credentials {
  /** The service of the last login. */
  readonly current?: string;
  /** By base URL. */
  readonly services: Readonly<Record<string, StoredService>>;
}

/** The credentials of the user, in a file that only its owner can read. */
export interface CredentialFile {
  readonly path: string;
  read(): Promise<Credentials>;
  /** Changes the file while no other process does. The change gets what the file contains at that moment. */
  update(change: (current: Credentials) => Promise<Credentials>): Promise<Credentials>;
  /** Whether other users of the machine can read it; undefined where there is none yet. */
  isExposed(): Promise<boolean | undefined>;
}

export function createCredentialFile(directory: string): CredentialFile {
  const path = join(directory, 'credentials.json');

  async function read(): Promise<Credentials> {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '{"services":{}}';
      throw unusable(path, error);
    });
    return parse(text, path);
  }

  async function write(credentials: Credentials): Promise<void> {
    const draft = `${path}.${randomUUID()}`;
    try {
      const text = `${JSON.stringify(credentials, null, 2)}\n`;
      await writeFile(draft, text, { flag: 'wx', mode: FILE_MODE, flush: true });
      // A reader sees the old file or the new one, never a part.
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw unusable(path, error);
    }
  }

  return {
    path,
    read,
    async update(change) {
      await prepareDirectory(directory);
      return withFileLock(`${path}.lock`, async () => {
        const current = await read();
        const changed = await change(current);
        if (changed !== current) await write(changed);
        return changed;
      });
    },
    async isExposed() {
      const found = await stat(path).catch(() => undefined);
      return found && (found.mode & OTHERS_MASK) !== 0;
    },
  };
}

async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    // An existing one may have another mode.
    await chmod(directory, DIRECTORY_MODE);
  } catch (error) {
    throw unusable(directory, error);
  }
}

function parse(text: string, path: string): Credentials {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'services' in value) {
      return value as Credentials;
    }
  } catch {
    // Reported below.
  }
  throw new CliError(
    'failed',
    `${path} is not a credentials file`,
    `Remove it and sign in again: rm ${path} && gateway login`,
  );
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

function unusable(path: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError(
    'failed',
    `${path} cannot be used: ${reason}`,
    'Make it readable and writable for you, or set XDG_CONFIG_HOME to another folder.',
    error,
  );
}
