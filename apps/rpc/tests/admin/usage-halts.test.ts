import { newId } from '@model-gateway/kernel';
import { ADMIN_TOKEN, startRpc } from '../rpc-server.ts';

test('admins see the usage event at which a recorder waits, and have it skipped', async () => {
  const rpc = await startRpc();
  const { rejectedUsage } = rpc.test.context.database;
  const user = await rpc.createAccount('admin@example.com');
  const halted = async () => (await rpc.call('usage.halts.list', {}, ADMIN_TOKEN)).result;
  expect(await halted()).toEqual({ events: [] });
  const id = newId();
  await rejectedUsage.add({ id: newId(), event: '{}', error: 'set aside' });
  expect(await rejectedUsage.halt({ id, event: '{}', error: 'x is undefined' })).toBe(true);
  await rejectedUsage.halt({ id, event: '{}', error: 'x is undefined' });
  const time = expect.stringMatching(/Z$/);
  expect(await halted()).toEqual({
    events: [
      { event_id: id, error: 'x is undefined', attempts: 2, since: time, last_tried_at: time },
    ],
  });
  const skip = { event_id: id };
  expect((await rpc.call('usage.halts.skip', skip, user.token)).result).toEqual({ ok: true });
  expect(await halted()).toEqual({ events: [] });
  expect(await rejectedUsage.find(id)).toMatchObject({ halts: false });
  expect((await rpc.call('usage.halts.skip', skip, ADMIN_TOKEN)).error).toMatchObject({
    message: 'no recorder waits at this usage event',
  });
  await rpc.test.close();
});
