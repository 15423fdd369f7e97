// Runs the stores of a test run: writes the environment of the tests as one line of JSON, and stops when standard input ends, however
// the run ends.
import { startTestStores } from './start-test-stores.ts';

const given = (name: string): string | undefined => process.env[name] || undefined;

const stores = await startTestStores({
  databaseUrl: given('DATABASE_URL'),
  redisUrl: given('REDIS_URL'),
});
process.stdout.write(`${JSON.stringify(stores.environment)}\n`);
for await (const _ of process.stdin);
await stores.stop();
