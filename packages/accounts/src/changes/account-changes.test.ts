import { silentLog, type Counters } from '@model-gateway/kernel';
import { createAccountChanges } from './account-changes.ts';

/** Counters whose answers are given by hand, in the order of the questions. */
function setup() {
  const waiting: ((epoch: number) => void)[] = [];
  const counters: Pick<Counters, 'read'> = {
    read: () =>
      new Promise((resolve) => {
        waiting.push((epoch) => resolve([epoch]));
      }),
  };
  const channels = { subscribe: async () => ({ close: async () => undefined }) };
  return { waiting, changes: createAccountChanges({ counters, channels, log: silentLog }) };
}

test('concurrent calls share one read that starts after all of them', async () => {
  const { waiting, changes } = setup();
  const first = changes.readEpoch();
  const others = [changes.readEpoch(), changes.readEpoch(), changes.readEpoch()];
  expect(waiting).toHaveLength(1);
  waiting[0]?.(1);
  expect(await first).toBe(1);
  expect(waiting).toHaveLength(2);
  waiting[1]?.(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  const last = changes.readEpoch();
  expect(waiting).toHaveLength(3);
  waiting[2]?.(3);
  expect(await last).toBe(3);
});
