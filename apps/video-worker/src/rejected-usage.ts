import { runRejectedUsageCommand } from '@model-gateway/recorder';
import { runStoreCommand } from './store-command.ts';

interface RejectedUsageConfig {
  readonly databaseUrl: string;
  readonly pointsPerUsd: number;
}

/** The process behind `pnpm gateway usage:rejected`. */
export const runRejectedUsage = (
  readConfig: () => RejectedUsageConfig | Promise<RejectedUsageConfig>,
): Promise<void> =>
  runStoreCommand({
    name: 'usage:rejected',
    readConfig,
    run: (args, stores, { config: { pointsPerUsd }, print }) =>
      runRejectedUsageCommand(args, { stores, pointsPerUsd, print }),
  });
