// Runs the Redis of the video queue in a process of its own, and stops it on SIGTERM.
import { startQueueRedis } from '../src/queue-redis.ts';

const store = await startQueueRedis();
process.once('SIGTERM', () => void store.stop());
process.stdout.write(`${store.url}\n`);
