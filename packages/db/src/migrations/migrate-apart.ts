import { fork } from 'node:child_process';
import { describeError, StartupError } from '@model-gateway/kernel';
import { z } from 'zod';
import { fileInPackage } from './file-in-package.ts';
import { migrationFacts, pendingMigrations, type MigrateOptions } from './migrate.ts';
import { explainStartFailure } from '../connection/start-failure.ts';

/** The input of the child. It is sent over the channel, because other users can read command lines and environments. */
export const assignmentSchema = z.object({
  databaseUrl: z.string(),
  folder: z.string().optional(),
});

const outcomeSchema = z.union([
  z.object({ applied: z.array(z.string()) }),
  z.object({ failure: z.string() }),
]);

/** The reply of the child. */
export type MigrationOutcome = z.infer<typeof outcomeSchema>;

/**
 * `migrateDatabase` for a long-running process. The engine takes about 40 MB that are never freed, so it runs in a
 * child process; without pending migrations no child is started.
 */
export async function migrateApart(options: MigrateOptions): Promise<readonly string[]> {
  const { databaseUrl, log, folder } = options;
  if ((await pendingMigrations(options)).length === 0) return [];
  const outcome = await runChild({ databaseUrl, folder }).catch((error: unknown) => {
    throw explainStartFailure(error, databaseUrl);
  });
  if ('failure' in outcome) throw new StartupError(outcome.failure);
  if (outcome.applied.length > 0)
    log.info(migrationFacts(outcome.applied), 'the database was migrated');
  return outcome.applied;
}

function runChild(assignment: z.infer<typeof assignmentSchema>): Promise<MigrationOutcome> {
  return new Promise((resolve, reject) => {
    // Always the compiled one: Node cannot run the source.
    const child = fork(fileInPackage('../dist/migrations/migrate-child.js'), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let outcome: MigrationOutcome | undefined;
    child.once('message', (message) => {
      outcome = outcomeSchema.safeParse(message).data;
      child.disconnect();
    });
    child.once('error', (error) => {
      // Without its code, which would be mistaken for one of Postgres.
      reject(new Error(`no process could be started for it (${describeError(error)})`));
    });
    child.once('exit', (status, signal) => {
      if (outcome !== undefined) resolve(outcome);
      else reject(new Error(`the process that migrates ended with ${signal ?? status}`));
    });
    // If the child exits before it reads this, the exit handler reports it.
    child.send(assignment, () => undefined);
  });
}
