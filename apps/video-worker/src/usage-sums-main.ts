import { readStoreCommandConfig } from './config.ts';
import { runUsageSums } from './usage-sums.ts';

// In the image of the video worker: `node dist/usage-sums-main.js check`.
await runUsageSums(readStoreCommandConfig);
