import { describeError, silentLog } from '@model-gateway/kernel';
import { assignmentSchema, type MigrationOutcome } from './migrate-apart.ts';
import { migrateDatabase } from './migrate.ts';

// The process that `migrateApart` starts. It runs until the parent disconnects or exits. It ignores signals that the
// terminal sends to both: the parent lets a migration finish before it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.once('message', (message) => {
  void work(message).then((outcome) => process.send?.(outcome));
});

async function work(message: unknown): Promise<MigrationOutcome> {
  try {
    const { databaseUrl, folder } = assignmentSchema.parse(message);
    const where = folder === undefined ? {} : { folder };
    // Its reply contains everything that it could log.
    return { applied: [...(await migrateDatabase({ databaseUrl, log: silentLog, ...where }))] };
  } catch (error) {
    return { failure: describeError(error) };
  }
}
