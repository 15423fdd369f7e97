import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeError, StartupError } from '@model-gateway/kernel';
import { SYSTEM_ENVIRONMENT } from './system-environment.ts';

const run = promisify(execFile);
const USER = 'postgres';
const INSTEAD = 'run this as another user, or set DATABASE_URL to a PostgreSQL 15 or newer';

/** As whom Postgres runs, and how: it refuses to run as root. */
export interface PostgresUser {
  readonly uid?: number;
  readonly gid?: number;
  /** Put in front of every command. */
  readonly prefix: readonly string[];
}

interface Reach {
  /** A program that the user must be able to run. */
  readonly program: string;
  /** A folder that the user must be able to enter. */
  readonly folder: string;
}

/** Whoever runs us, except as root: then the user `postgres`, made when it is missing. */
export async function postgresUser(): Promise<
  { readonly uid: number; readonly gid: number } | undefined
> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await idsOf(USER);
  if (existing !== undefined) return existing;
  try {
    await run('groupadd', ['--force', '--system', USER], { env: SYSTEM_ENVIRONMENT });
    await run('useradd', [
      '--system',
      '--gid',
      USER,
      '--no-create-home',
      '--shell',
      '/bin/false',
      USER,
    ]);
  } catch (error) {
    throw new StartupError(
      `Postgres refuses to run as root and the user ${USER} could not be made (${describeError(error)}); ${INSTEAD}`,
    );
  }
  const made = await idsOf(USER);
  if (made === undefined) throw new StartupError(`Postgres refuses to run as root; ${INSTEAD}`);
  return made;
}

/**
 * How to become that user. Below a folder that only root may enter, such as /root, the user keeps the one capability to
 * pass through, where the machine has `setpriv`.
 */
export async function becomePostgresUser(
  user: { readonly uid: number; readonly gid: number } | undefined,
  reach: Reach,
): Promise<PostgresUser> {
  if (user === undefined) return { prefix: [] };
  const plain: PostgresUser = { ...user, prefix: [] };
  if (await reaches(plain, reach)) return plain;
  const passing: PostgresUser = { prefix: passThrough(user) };
  if (await reaches(passing, reach)) return passing;
  throw new StartupError(
    `Postgres runs as the user ${USER}, who cannot enter ${reach.folder} or run ${reach.program}; move the project and SERVICE_DATA_DIR out of a private folder such as /root, install setpriv (util-linux), or set DATABASE_URL`,
  );
}

function passThrough({
  uid,
  gid,
}: {
  readonly uid: number;
  readonly gid: number;
}): readonly string[] {
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without this bit the kernel leaves the capability out of access(2), by which initdb looks for postgres.
    '--securebits=+no_setuid_fixup',
  ];
}

async function reaches(
  { prefix, uid, gid }: PostgresUser,
  { program, folder }: Reach,
): Promise<boolean> {
  const [command, ...rest] = [
    ...prefix,
    '/bin/sh',
    '-c',
    '"$1" --version && cd "$2"',
    'probe',
    program,
    folder,
  ];
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid };
  return run(command, rest, { cwd: '/', env: SYSTEM_ENVIRONMENT, ...identity }).then(
    () => true,
    () => false,
  );
}

async function idsOf(
  name: string,
): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name], { env: SYSTEM_ENVIRONMENT })));
    return uid === undefined || gid === undefined
      ? undefined
      : { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}
