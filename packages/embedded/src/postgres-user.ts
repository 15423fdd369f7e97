import { describeError, startupError } from '@model-gateway/kernel';
import { runSystemCommand, type Identity } from './system-command.ts';

const USER = 'postgres';

/** How to run a command as the user that Postgres runs as. */
export interface PostgresUser {
  readonly identity: Identity | undefined;
  /** Put in front of every command. */
  readonly prefix: readonly string[];
}

interface RequiredAccess {
  /** A program that the user must be able to run. */
  readonly program: string;
  /** A folder that the user must be able to enter. */
  readonly folder: string;
}

/** Undefined for the current user. Root cannot run Postgres: then it is the user `postgres`, created if missing. */
export async function postgresIdentity(): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await idsOf(USER);
  if (existing !== undefined) return existing;
  const problem = await makeUser();
  const made = await idsOf(USER);
  if (made !== undefined) return made;
  throw startupError('no_postgres_user', { user: USER, reason: problem });
}

/**
 * How to run commands as that user. Below a folder that only root may enter, such as /root, the user gets one capability to access
 * it, if the machine has `setpriv`.
 */
export async function becomePostgresUser(
  identity: Identity | undefined,
  access: RequiredAccess,
): Promise<PostgresUser> {
  if (identity === undefined) return { identity, prefix: [] };
  const plain: PostgresUser = { identity, prefix: [] };
  if (await canAccess(plain, access)) return plain;
  const privileged: PostgresUser = { identity: undefined, prefix: withCapability(identity) };
  if (await canAccess(privileged, access)) return privileged;
  throw startupError('postgres_user_shut_out', { user: USER, ...access });
}

function withCapability({ uid, gid }: Identity): readonly string[] {
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without this bit the kernel ignores the capability in access(2), which initdb uses to find postgres.
    '--securebits=+no_setuid_fixup',
  ];
}

async function canAccess(
  { prefix, identity }: PostgresUser,
  { program, folder }: RequiredAccess,
): Promise<boolean> {
  const probe = ['/bin/sh', '-c', '"$1" --version && cd "$2"', 'probe', program, folder];
  return runSystemCommand([...prefix, ...probe], identity).then(
    () => true,
    () => false,
  );
}

async function makeUser(): Promise<string> {
  const shell = ['--no-create-home', '--shell', '/bin/false'];
  try {
    await runSystemCommand(['groupadd', '--force', '--system', USER]);
    await runSystemCommand(['useradd', '--system', '--gid', USER, ...shell, USER]);
    return '';
  } catch (error) {
    return describeError(error).trim();
  }
}

async function idsOf(name: string): Promise<Identity | undefined> {
  try {
    const uid = Number(await runSystemCommand(['id', '-u', name]));
    const gid = Number(await runSystemCommand(['id', '-g', name]));
    return { uid, gid };
  } catch {
    return undefined;
  }
}
