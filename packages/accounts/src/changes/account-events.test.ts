import { silentLog } from '@model-gateway/kernel';
import { decodeChange, type AccountChange } from './account-change.ts';
import { createAccountEvents } from './account-events.ts';

const CHANGES: readonly AccountChange[] = [
  { kind: 'key', keyId: 'k' },
  { kind: 'group', groupId: 'g' },
  { kind: 'member', groupId: 'g', userId: 'u' },
  { kind: 'user', userId: 'u' },
  { kind: 'tiers' },
];

test.each(CHANGES)(
  'a change of a $kind is counted, then announced with its number',
  async (change) => {
    const told: unknown[] = [];
    const events = createAccountEvents({
      counters: {
        add: async (key, by) => {
          told.push([key, by]);
          return 7;
        },
      },
      channels: { publish: async (channel, text) => told.push([channel, decodeChange(text)]) },
      log: silentLog,
    });
    await events.changed(change);
    expect(told).toEqual([
      ['accounts-epoch', 1],
      ['accounts', { epoch: 7, change }],
    ]);
  },
);

test.each(['', '{', '{"kind":"other","epoch":1}', '{"kind":"key","epoch":"1","key_id":"k"}'])(
  '%p announces nothing',
  (message) => {
    expect(decodeChange(message)).toBeUndefined();
  },
);

test('a change that cannot be announced is logged and fails no call', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: unknown, text: string) => void warnings.push(text) };
  const events = createAccountEvents({
    counters: { add: () => Promise.reject(new Error('the bus is away')) },
    channels: { publish: async () => 0 },
    log,
  });
  await events.changed({ kind: 'group', groupId: 'g' });
  expect(warnings).toEqual(['announcing a change failed']);
});
