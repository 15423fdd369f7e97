import { silentLog } from '@model-gateway/kernel';
import { createAccountEvents, type AccountChange } from './account-events.ts';

test.each<{ readonly change: AccountChange; readonly message: unknown }>([
  { change: { kind: 'group', groupId: 'g' }, message: { kind: 'group', group_id: 'g' } },
  {
    change: { kind: 'member', groupId: 'g', userId: 'u' },
    message: { kind: 'member', group_id: 'g', user_id: 'u' },
  },
])('a change of a $change.kind is announced on the accounts channel', ({ change, message }) => {
  const published: unknown[] = [];
  const publish = async (channel: string, text: string): Promise<number> =>
    published.push([channel, JSON.parse(text)]);
  createAccountEvents({ channels: { publish }, log: silentLog }).changed(change);
  expect(published).toEqual([['accounts', message]]);
});

test('a change that cannot be announced is logged and fails nobody', async () => {
  const warnings: string[] = [];
  const warned = new Promise<void>((resolve) => {
    const log = {
      ...silentLog,
      warn: (_fields: unknown, message: string) => {
        warnings.push(message);
        resolve();
      },
    };
    const publish = () => Promise.reject(new Error('the bus is away'));
    createAccountEvents({ channels: { publish }, log }).changed({ kind: 'group', groupId: 'g' });
  });
  await warned;
  expect(warnings).toEqual(['a change was not announced']);
});
