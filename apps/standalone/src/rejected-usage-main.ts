import { embeddedPostgresUrl } from '@model-gateway/embedded';
import { runRejectedUsage } from 'video-worker/app';
import { readStandaloneConfig } from './config.ts';

// Behind `pnpm gateway usage:rejected` in a clone: on the database of DATABASE_URL, or on that of a running `npm start`.
await runRejectedUsage(async () => {
  const { databaseUrl, dataDir, pointsPerUsd } = readStandaloneConfig();
  return { databaseUrl: databaseUrl ?? (await embeddedPostgresUrl(dataDir)), pointsPerUsd };
});
