// Starts both stores in a separate process, which a test can kill.
import { findRedisServer, startPostgres, startRedis } from '@model-gateway/embedded';
import { silentLog as log } from '@model-gateway/kernel';

const [dataDir] = process.argv.slice(2);
const binary = await findRedisServer(process.env.PATH);
const postgres = await startPostgres({ dataDir, log });
const redis = await startRedis({ dataDir, log, binary });
process.stdout.write(
  `${JSON.stringify({
    postgres: { url: postgres.url, pid: postgres.pid },
    redis: { url: redis.url, pid: redis.pid },
  })}\n`,
);
