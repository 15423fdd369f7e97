import { runUsageSumsCommand } from '@model-gateway/recorder';
import { runStoreCommand } from './store-command.ts';

interface UsageSumsConfig {
  readonly databaseUrl: string;
}

/** The process behind `pnpm gateway usage:sums`. */
export const runUsageSums = (
  readConfig: () => UsageSumsConfig | Promise<UsageSumsConfig>,
): Promise<void> =>
  runStoreCommand({
    name: 'usage:sums',
    readConfig,
    run: (args, { spendSums }, { print }) => runUsageSumsCommand(args, { spendSums, print }),
  });
