import { manualClock, silentLog } from '@model-gateway/kernel';
import {
  createMemoryEvents,
  type MemoryEventStore,
  type UserMemoryEvent,
} from './memory-events.ts';

/** A store in memory, with the batches that it got. */
function recordingStore() {
  const batches: UserMemoryEvent[][] = [];
  const store: MemoryEventStore = {
    append: async (events) => void batches.push([...events]),
    newest: async (userId) =>
      batches
        .flat()
        .filter((event) => event.userId === userId)
        .toReversed(),
  };
  return { batches, store };
}
const clock = manualClock(1_700_000_000_000);

test('recorded events are listed, the newest first', async () => {
  const events = createMemoryEvents({ store: recordingStore().store, clock, log: silentLog });
  events.record('ann', 'recall', { nodeIds: ['a', 'b'] });
  events.record('bob', 'delete', { nodeIds: ['c'] });
  events.record('ann', 'error', { detail: 'write: away' });
  expect(await events.newest('ann')).toMatchObject([
    { kind: 'error', nodeIds: [], detail: 'write: away' },
    { kind: 'recall', nodeIds: ['a', 'b'], detail: null, at: new Date(clock.now()) },
  ]);
});

test('details and node ids are bounded', async () => {
  const { batches, store } = recordingStore();
  const events = createMemoryEvents({ store, clock, log: silentLog });
  const nodeIds = Array.from({ length: 80 }, (_, index) => `${index}`);
  events.record('ann', 'write', { nodeIds, detail: 'x'.repeat(600) });
  await events.settled();
  expect(batches[0]?.[0]?.nodeIds).toHaveLength(50);
  expect(batches[0]?.[0]?.detail).toHaveLength(500);
});

test('a slow store delays no call, and gets the newest thousand events in batches', async () => {
  const { batches, store } = recordingStore();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const append: MemoryEventStore['append'] = async (events, keptMax) => {
    await released;
    await store.append(events, keptMax);
  };
  const events = createMemoryEvents({ store: { ...store, append }, clock, log: silentLog });
  events.record('ann', 'error', { detail: 'first' });
  await new Promise(setImmediate);
  for (let index = 0; index < 1_200; index += 1)
    events.record('ann', 'error', { detail: `${index}` });
  release();
  await events.settled();
  expect(batches.map(({ length }) => length)).toEqual([
    1,
    ...Array.from({ length: 10 }, () => 100),
  ]);
  expect(batches[1]?.[0]?.detail).toBe('200');
});

test('a store that fails loses its batch, and gets the next', async () => {
  const { batches, store } = recordingStore();
  let isUnavailable = true;
  const append: MemoryEventStore['append'] = async (events, keptMax) => {
    if (isUnavailable) throw new Error('unavailable');
    await store.append(events, keptMax);
  };
  const events = createMemoryEvents({ store: { ...store, append }, clock, log: silentLog });
  events.record('ann', 'error', { detail: 'lost' });
  await events.settled();
  isUnavailable = false;
  events.record('ann', 'error', { detail: 'kept' });
  await events.settled();
  expect(batches.flat().map(({ detail }) => detail)).toEqual(['kept']);
});
