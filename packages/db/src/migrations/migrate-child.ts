import { describeError, silentLog } from '@model-gateway/kernel';
import { assignmentSchema, type MigrationOutcome } from './migrate-apart.ts';
import { migrateDatabase } from './migrate.ts';

// The process that `migrateApart` starts. It lives until the parent lets go of it, or is gone: a signal that the terminal
// sends to both is the parent's business, which lets a migration finish before it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.once('message', (message) => {
  void work(message).then((outcome) => process.send?.(outcome));
});

async function work(message: unknown): Promise<MigrationOutcome> {
  try {
    const { databaseUrl, folder } = assignmentSchema.parse(message);
    const where = folder === undefined ? {} : { folder };
    // Whatever it could log is in what it answers.
    return { applied: [...(await migrateDatabase({ databaseUrl, log: silentLog, ...where }))] };
  } catch (error) {
    return { failure: describeError(error) };
  }
}
