import { ServiceError } from '@model-gateway/contracts';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';
import { keysOf, startGateway } from './gateway.ts';

test('while Postgres is away a key that was used goes on, and an unknown one is neither known nor refused', async () => {
  const gateway = await startGateway();
  const { test: testContext, key, userId } = gateway;
  const other = await keysOf(testContext).create({ userId, name: 'other' });
  let isAway = false;
  const { context } = testContext;
  const { keys } = context.database;
  const database = {
    ...context.database,
    keys: {
      ...keys,
      findHolder: (hash: string) =>
        isAway
          ? Promise.reject(new ServiceError('store_unavailable', 'the database is away'))
          : keys.findHolder(hash),
    },
  };
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const url = await testContext.serve(createGateway(config, { ...context, database }));
  const ask = (bearer: string) =>
    fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } });
  expect((await ask(key)).status).toBe(200);
  isAway = true;
  // The key is looked up anew, since something changed; the store cannot say what.
  await keysOf(testContext).create({ userId, name: 'unrelated' });
  expect((await ask(key)).status).toBe(200);
  const refused = await ask(other.secret);
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({
    error: { type: 'server_error', message: 'the database is away' },
  });
  isAway = false;
  expect((await ask(other.secret)).status).toBe(200);
  await testContext.close();
});
