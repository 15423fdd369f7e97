import { flag, loadConfig, setting, text, urlWith, withDefault } from '@model-gateway/kernel';

const NOT_SET = '';

const testSettings = {
  databaseUrl: setting(
    'TEST_DATABASE_URL',
    withDefault(urlWith('postgres', 'postgresql'), NOT_SET),
    {
      description: 'A Postgres whose user may create databases; set by the test command.',
      secret: true,
    },
  ),
  template: setting('TEST_DATABASE_TEMPLATE', withDefault(text(), NOT_SET), {
    description:
      'The migrated database of which test databases are copies; set by the test command.',
  }),
  dataDirTemplate: setting('TEST_DATA_DIR_TEMPLATE', withDefault(text(), NOT_SET), {
    description:
      'A data directory whose Postgres is migrated, of which others are copies; set by the test command.',
  }),
  redisUrl: setting('TEST_REDIS_URL', withDefault(urlWith('redis', 'rediss'), NOT_SET), {
    description: 'A Redis for tests; set by the test command.',
    secret: true,
  }),
  isFull: setting('TEST_FULL', withDefault(flag(), false), {
    description: 'Whether tests that repeat themselves do so at full size; set by the developer.',
  }),
  isRecording: setting('TEST_RECORD', withDefault(flag(), false), {
    description: 'Whether tests of recorded answers write their files anew instead of comparing.',
  }),
};

/** The Postgres for test databases. */
export const testPostgresUrl = (): string => present('TEST_DATABASE_URL', settings().databaseUrl);

/** The migrated database there, of which test databases are copies. */
export const testPostgresTemplate = (): string =>
  present('TEST_DATABASE_TEMPLATE', settings().template);

/** A data directory to copy, whose Postgres is migrated; undefined where the tests use a Postgres that was there before. */
export function dataDirTemplate(): string | undefined {
  const path = settings().dataDirTemplate;
  return path === NOT_SET ? undefined : path;
}

/** The Redis that all tests share; use a `uniquePrefix()` for your keys. */
export const testRedisUrl = (): string => present('TEST_REDIS_URL', settings().redisUrl);

/** How often a test repeats something: `small` in every run, `full` with `TEST_FULL=1`. */
export const fullSize = (full: number, { small }: { readonly small: number }): number =>
  settings().isFull ? full : small;

/** The cases of a table of slow tests: the first `small` in every run, all with `TEST_FULL=1`. */
export const fullTable = <Case>(
  cases: readonly Case[],
  { small }: { readonly small: number },
): readonly Case[] => cases.slice(0, fullSize(cases.length, { small }));

/** A test of runs with `TEST_FULL=1` alone, for what repeats at a larger scale what another test shows in every run. */
export function fullTest(name: string, run: () => Promise<void>): void {
  if (settings().isFull) test(name, run);
}

/** Whether answers are recorded instead of compared with those that were recorded. */
export const isRecording = (): boolean => settings().isRecording;

// Read at the call: the test command sets them before the first test, not before the first import.
const settings = () => loadConfig(testSettings, process.env);

function present(name: string, value: string): string {
  if (value !== NOT_SET) return value;
  throw new Error(`${name} is not set: run tests through \`npm test\` or the root \`pnpm jest\``);
}
