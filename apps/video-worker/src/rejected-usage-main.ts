import { readStoreCommandConfig } from './config.ts';
import { runRejectedUsage } from './rejected-usage.ts';

// In the image of the video worker: `node dist/rejected-usage-main.js list`.
await runRejectedUsage(readStoreCommandConfig);
