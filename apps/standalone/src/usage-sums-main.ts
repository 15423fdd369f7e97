import { embeddedPostgresUrl } from '@model-gateway/embedded';
import { runUsageSums } from 'video-worker/app';
import { readStandaloneConfig } from './config.ts';

// Behind `pnpm gateway usage:sums` in a clone: on the database of DATABASE_URL, or on that of a running `npm start`.
await runUsageSums(async () => {
  const { databaseUrl, dataDir } = readStandaloneConfig();
  return { databaseUrl: databaseUrl ?? (await embeddedPostgresUrl(dataDir)) };
});
