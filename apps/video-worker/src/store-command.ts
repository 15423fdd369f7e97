import { createDatabase, type Database } from '@model-gateway/db';
import { createLog, describeError, StartupError } from '@model-gateway/kernel';

interface StoreCommand<Config> {
  /** As operators type it. */
  readonly name: string;
  readonly readConfig: () => Config | Promise<Config>;
  /** Returns the exit code. */
  readonly run: (
    args: readonly string[],
    stores: Database,
    options: { readonly config: Config; readonly print: (text: string) => void },
  ) => Promise<number>;
}

/** The process of a command that works on the database: runs it once and sets the exit code. */
export async function runStoreCommand<Config extends { readonly databaseUrl: string }>(
  { name, readConfig, run }: StoreCommand<Config>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const config = await readConfig();
    const log = createLog({ level: 'warn', app: name.replace(':', '-') });
    const stores = createDatabase({ databaseUrl: config.databaseUrl, log });
    try {
      const print = (text: string): void => void process.stdout.write(text);
      process.exitCode = await run(args, stores, { config, print });
    } finally {
      await stores.close();
    }
  } catch (error) {
    const reason = error instanceof StartupError ? error.message : describeError(error);
    process.stderr.write(`${name}: ${reason}\n`);
    process.exitCode = 1;
  }
}
