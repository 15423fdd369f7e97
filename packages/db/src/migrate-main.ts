import { createLog, describeError, StartupError } from '@model-gateway/kernel';
import { loadMigrateConfig } from './config.ts';
import { migrateDatabase } from './migrations/migrate.ts';

// The process behind `pnpm gateway db:migrate`: migrates and ends.
try {
  const { databaseUrl } = loadMigrateConfig();
  const applied = await migrateDatabase({
    databaseUrl,
    log: createLog({ level: 'warn', app: 'migrate' }),
  });
  process.stdout.write(
    applied.length === 0
      ? 'The database is up to date.\n'
      : `The database was migrated: ${applied.join(', ')}.\n`,
  );
} catch (error) {
  const reason =
    error instanceof StartupError ? error.message : `could not migrate: ${describeError(error)}`;
  process.stderr.write(`migrate: ${reason}\n`);
  process.exitCode = 1;
}
