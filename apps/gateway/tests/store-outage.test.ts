import { ServiceError } from '@model-gateway/contracts';
import type { JournalEntry } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startCloudVideo } from '@model-gateway/testkit/upstreams';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';
import { ADMIN_TOKEN, keysOf, registerBackend, startGateway } from './gateway.ts';
import { takeUsage } from './money/usage-journal.ts';
import { startRecordingUpstream } from './routing/recording-upstream.ts';

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

test('while usage can be written neither to Redis nor to the disk, requests are refused, and what was served is metered later', async () => {
  const upstream = await startRecordingUpstream();
  upstream.answer({
    id: 'a',
    choices: [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const gateway = await startGateway();
  const { test: testContext, key } = gateway;
  const { context } = testContext;
  let isFull = false;
  const journal = {
    ...context.bus.journal,
    append: (entry: JournalEntry) =>
      isFull
        ? Promise.reject(new Error('ENOSPC: no space left on device'))
        : context.bus.journal.append(entry),
  };
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const bus = { ...context.bus, journal };
  const url = await testContext.serve(createGateway(config, { ...context, bus }));
  const backend = { type: 'external', name: 'upstream', url: upstream.url };
  expect((await registerBackend({ url }, backend)).status).toBe(200);
  const ask = () =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    });
  isFull = true;
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
  expect(await context.bus.journal.lag()).toBe(0);
  isFull = false;
  await waitUntil(async () => (await ask()).status === 200, { what: 'a served request' });
  expect(await takeUsage(context.bus.journal, 2)).toHaveLength(2);
  await testContext.close();
  await upstream.close();
});

test('a video job whose price cannot be read is refused instead of admitted without a reservation', async () => {
  const { test: testContext, key } = await startGateway();
  const { context } = testContext;
  const { videoPricing } = context.database;
  let failures = 1;
  const find: typeof videoPricing.find = async (model) => {
    failures -= 1;
    if (failures >= 0) throw new ServiceError('store_unavailable', 'the database is unavailable');
    return videoPricing.find(model);
  };
  const database = { ...context.database, videoPricing: { ...videoPricing, find } };
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const url = await testContext.serve(createGateway(config, { ...context, database }));
  const video = await startCloudVideo();
  const cloud = { type: 'cloud-video', name: 'cloud', url: video.url, models: ['v-1'] };
  await registerBackend({ url }, cloud);
  const submit = () =>
    fetch(`${url}/v1/video/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'v-1', prompt: 'a cat' }),
    });
  expect((await submit()).status).toBe(503);
  expect((await submit()).status).toBe(200);
  await testContext.close();
  await video.close();
});
