import { describeError, errorCode, StartupError } from './errors.ts';

/** Why a process does not start, and what to do next. `{name}` stands for a value. */
interface StartupProblem {
  readonly says: string;
  readonly remedy: string;
}

/** Every message of a start that fails. The page about troubleshooting is generated from it. */
export const STARTUP_PROBLEMS = {
  invalid_configuration: {
    says: 'invalid configuration: {problems}',
    remedy: 'correct these settings and start again',
  },
  config_file_unreadable: {
    says: 'the configuration file {file} (SERVICE_CONFIG) cannot be read ({reason})',
    remedy: 'correct SERVICE_CONFIG, or make the file readable',
  },
  config_file_wrong: {
    says: 'the configuration file {file} (SERVICE_CONFIG) is wrong: {problems}',
    remedy: 'correct these lines and start again',
  },
  config_file_refused: {
    says: 'the configuration file {file} (SERVICE_CONFIG) was not applied: {reason}',
    remedy: 'repair what the reason names and start again',
  },
  port_in_use: {
    says: 'port {port} on {host} is already in use',
    remedy: 'stop the process that uses it or set SERVICE_PORT to another port',
  },
  port_forbidden: {
    says: 'no permission to listen on port {port} on {host}',
    remedy: 'set SERVICE_PORT to a port above 1023',
  },
  address_unknown: {
    says: '{host} is not an address of this machine',
    remedy: 'set SERVICE_HOST to one of its addresses',
  },
  cannot_listen: {
    says: 'cannot listen on {host} port {port}: {reason}',
    remedy: 'set SERVICE_HOST and SERVICE_PORT to an address that this machine can listen on',
  },
  disk_full: {
    says: 'the disk of {folder} is full ({reason})',
    remedy: 'free space on it or set SERVICE_DATA_DIR to a folder on another disk',
  },
  data_dir_unwritable: {
    says: 'the data directory {folder} cannot be written ({reason})',
    remedy: 'make it writable or set SERVICE_DATA_DIR to another',
  },
  data_dir_in_use: {
    says: 'the data directory {folder} is in use by process {pid}',
    remedy: 'stop that process or set SERVICE_DATA_DIR to another',
  },
  data_dir_contended: {
    says: 'the data directory {folder} is being locked by other processes at the same time',
    remedy: 'start one process on it, or set SERVICE_DATA_DIR to another for each',
  },
  postgres_unreachable: {
    says: 'cannot reach Postgres at {server} ({reason})',
    remedy: 'check DATABASE_URL and that the server runs',
  },
  postgres_refused: {
    says: 'Postgres at {server} refuses the user or the password in DATABASE_URL',
    remedy: 'correct them in DATABASE_URL, or give the user that password',
  },
  database_missing: {
    says: 'the database {database} that DATABASE_URL names does not exist at {server}',
    remedy: 'create it or correct DATABASE_URL',
  },
  database_forbidden: {
    says: 'the user in DATABASE_URL may not change the database {database} ({reason})',
    remedy:
      'make the user its owner, or migrate as another user and set SERVICE_MIGRATE=0 for this process',
  },
  migration_locked: {
    says: 'another process has been migrating the database {database} for too long',
    remedy: 'look for a stuck one, then start again',
  },
  postgres_busy: {
    says: 'Postgres at {server} takes no connections now ({reason})',
    remedy: 'start again when it does',
  },
  postgres_disk_full: {
    says: 'the disk of Postgres at {server} is full ({reason})',
    remedy: 'free space on it and start again',
  },
  migration_failed: {
    says: 'the database {database} at {server} could not be migrated and was left as it was: {reason}',
    remedy: 'repair what the reason names and start again',
  },
  migration_too_old: {
    says: 'the database was made by a development version whose last migration was {migration}',
    remedy: 'start commit d6dce40a once, which brings it up to date, then this version',
  },
  migration_unfinished: {
    says: 'migration {migration} was started by another tool and never finished',
    remedy: 'repair the database and record that with "prisma migrate resolve"',
  },
  migration_missing: {
    says: 'the database lacks the migration {migrations}, and SERVICE_MIGRATE=0 leaves them to another process',
    remedy: 'run `pnpm gateway db:migrate`',
  },
  redis_unusable: {
    says: 'Redis at {server} (REDIS_URL) cannot be used: {reason}',
    remedy: 'check REDIS_URL with its password, and that the server runs',
  },
  no_postgres_binaries: {
    says: 'there is no embedded Postgres for {platform} ({package} is not installed)',
    remedy: 'set DATABASE_URL to a PostgreSQL 15 or newer',
  },
  no_postgres_user: {
    says: 'Postgres does not run as root and the user {user} could not be created ({reason})',
    remedy: 'run this as another user, or set DATABASE_URL to a PostgreSQL 15 or newer',
  },
  postgres_user_shut_out: {
    says: 'Postgres runs as the user {user}, who cannot enter {folder} or run {program}',
    remedy:
      'move the project and SERVICE_DATA_DIR out of a private folder such as /root, install setpriv (util-linux), or set DATABASE_URL',
  },
  postgres_not_set_up: {
    says: 'the embedded Postgres could not be set up: {reason}',
    remedy: 'repair what the reason names, or set DATABASE_URL to a PostgreSQL 15 or newer',
  },
  postgres_not_started: {
    says: 'the embedded Postgres failed: {reason}',
    remedy: 'repair what the reason names, or set DATABASE_URL to a PostgreSQL 15 or newer',
  },
  processes_need_redis: {
    says: 'SERVICE_PROCESSES is {processes}, but there is no Redis that the processes can share',
    remedy:
      'set REDIS_URL, put a redis-server of version 7 or newer on the PATH, or set SERVICE_PROCESSES=1',
  },
  redis_not_started: {
    says: 'the embedded Redis failed: {reason}',
    remedy: 'repair what the reason names, or set REDIS_URL to a Redis of your own',
  },
  store_not_stopped: {
    says: 'an earlier {store} (process {pid}) on {folder} does not stop',
    remedy: 'kill it first',
  },
  no_embedded_postgres: {
    says: 'there is no embedded Postgres in {folder}',
    remedy: 'set DATABASE_URL',
  },
} as const satisfies Readonly<Record<string, StartupProblem>>;

type StartupProblemName = keyof typeof STARTUP_PROBLEMS;

type ValueNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueNames<Rest>
  : never;

type ValuesOf<Name extends StartupProblemName> = Readonly<
  Record<ValueNames<(typeof STARTUP_PROBLEMS)[Name]['says']>, string | number>
>;

/** The error for a start that fails: one sentence with what is wrong and what to do next. */
export function startupError<Name extends StartupProblemName>(
  name: Name,
  values: ValuesOf<Name>,
  cause?: unknown,
): StartupError {
  const { says, remedy } = STARTUP_PROBLEMS[name];
  const known: Readonly<Record<string, string | number>> = values;
  const said = says.replaceAll(/\{(\w+)\}/g, (_place, value: string) => String(known[value]));
  return new StartupError(`${said}; ${remedy}`, cause === undefined ? {} : { cause });
}

const DISK_FULL_CODES = ['ENOSPC', 'EDQUOT'];
const DISK_FULL_LINE = /^.*no space left on device.*$/im;

/** Whether something failed because a disk is full: programs tell it in a sentence, Node in a code. */
export function isDiskFull(error: unknown): boolean {
  return (
    DISK_FULL_CODES.includes(errorCode(error) ?? '') || DISK_FULL_LINE.test(describeError(error))
  );
}

/** The error for a folder of the data directory that could not be written. */
export function unwritableError(folder: string, cause: unknown): StartupError {
  const whole = describeError(cause).trim();
  if (!isDiskFull(cause))
    return startupError('data_dir_unwritable', { folder, reason: whole }, cause);
  // The program prints more text around the message.
  const reason = DISK_FULL_LINE.exec(whole)?.[0] ?? whole;
  return startupError('disk_full', { folder, reason }, cause);
}
