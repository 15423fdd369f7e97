import { ServiceError } from '@model-gateway/contracts';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';
import { keysOf, startGateway } from './gateway.ts';

test('during an outage of Postgres a cached key works, and an unknown one gets a server error, not 401', async () => {
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
          ? Promise.reject(new ServiceError('store_unavailable', 'the database is unavailable'))
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
  // After a change the key is looked up again, which fails during the outage.
  await keysOf(testContext).create({ userId, name: 'unrelated' });
  expect((await ask(key)).status).toBe(200);
  const refused = await ask(other.secret);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({
    error: {
      type: 'server_error',
      code: 'store_unavailable',
      message: 'the database is unavailable',
    },
  });
  isAway = false;
  expect((await ask(other.secret)).status).toBe(200);
  await testContext.close();
});
