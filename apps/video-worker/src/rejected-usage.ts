import { createDatabase } from '@model-gateway/db';
import { createLog, describeError, StartupError } from '@model-gateway/kernel';
import { runRejectedUsageCommand } from '@model-gateway/recorder';

interface RejectedUsageConfig {
  readonly databaseUrl: string;
  readonly pointsPerUsd: number;
}

/** The process behind `pnpm usage:rejected`: runs one command and sets the exit code. */
export async function runRejectedUsage(
  readConfig: () => RejectedUsageConfig | Promise<RejectedUsageConfig>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const { databaseUrl, pointsPerUsd } = await readConfig();
    const log = createLog({ level: 'warn', app: 'usage-rejected' });
    const stores = createDatabase({ databaseUrl, log });
    try {
      const print = (text: string): void => void process.stdout.write(text);
      process.exitCode = await runRejectedUsageCommand(args, { stores, pointsPerUsd, print });
    } finally {
      await stores.close();
    }
  } catch (error) {
    const reason = error instanceof StartupError ? error.message : describeError(error);
    process.stderr.write(`usage:rejected: ${reason}\n`);
    process.exitCode = 1;
  }
}
