import { createRequestCounter } from '@model-gateway/inference';
import { startRpc } from '../rpc-server.ts';

test('anyone may call system.status', async () => {
  const rpc = await startRpc();
  const { bus, clock, log } = rpc.test.context;
  const elsewhere = createRequestCounter({ counters: bus.counters, clock, log });
  elsewhere.accepted();
  elsewhere.accepted();
  await elsewhere.stop();
  expect((await rpc.call('system.status')).result).toEqual({
    agents_online: 0,
    gpu_nodes: 0,
    models_deployed: 0,
    requests_total: 2,
    requests_per_minute: 2,
    uptime_seconds: expect.any(Number),
  });
  await rpc.test.close();
});

test('only admins read the settings, and never a secret', async () => {
  const rpc = await startRpc({
    DATABASE_URL: 'postgres://user:database-password@host/db',
    SERVICE_JWT_SECRET: 'the-secret-of-the-tokens, which is long enough',
    SERVICE_MAX_KEYS_PER_USER: '7',
  });
  const admin = await rpc.createAccount('admin@example.com');
  const user = await rpc.createAccount('user@example.com');
  expect((await rpc.call('system.settings', {}, user.token)).error?.code).toBe(-32_007);
  expect((await rpc.call('system.settings', {})).error?.code).toBe(-32_005);
  const { result } = await rpc.call('system.settings', {}, admin.token);
  const read = (name: string): unknown =>
    (result as { settings: { name: string }[] }).settings.find((one) => one.name === name);
  expect(read('SERVICE_MAX_KEYS_PER_USER')).toMatchObject({ value: '7', source: 'environment' });
  expect(read('SERVICE_REGISTRATIONS_PER_HOUR')).toMatchObject({ value: '600', source: 'default' });
  // The value that applies, not the words of the reference about it.
  expect(read('SERVICE_BUILD_HASH')).toMatchObject({ value: 'dev', source: 'default' });
  const secret = { value: null, is_secret: true };
  expect(read('SERVICE_JWT_SECRET')).toMatchObject({ ...secret, is_set: true });
  expect(read('SERVICE_ADMIN_TOKEN')).toMatchObject({ ...secret, is_set: true });
  expect(read('SERVICE_SMTP_URL')).toMatchObject({ ...secret, is_set: false });
  expect(JSON.stringify(result)).not.toMatch(/database-password|the-secret/);
  await rpc.test.close();
});
