import { silentLog, type Channels } from '@model-gateway/kernel';
import { createSessionListeners } from './session-listeners.ts';

/** Two replicas on one channel. */
async function setup() {
  const subscribers = new Set<(message: string) => void>();
  const published: string[] = [];
  const channels: Channels = {
    publish: async (_channel, message) => {
      published.push(message);
      for (const onMessage of subscribers) onMessage(message);
      return subscribers.size;
    },
    subscribe: async (_channel, onMessage) => {
      subscribers.add(onMessage);
      return { close: async () => void subscribers.delete(onMessage) };
    },
  };
  const here = createSessionListeners({ channels, log: silentLog });
  const there = createSessionListeners({ channels, log: silentLog });
  await here.start();
  await there.start();
  return { here, there, published, subscribers };
}

test('a waiter is notified of a listener on another replica, and not of other sessions', async () => {
  const { here, there } = await setup();
  const waiting = here.wait('mine', 10_000);
  there.announce('other');
  there.announce('mine');
  expect(await waiting).toBe(true);
});

test('a listener on the same replica is not published', async () => {
  const { here, published } = await setup();
  let count = 0;
  here.onListener('mine', () => (count += 1));
  here.announce('mine');
  expect([count, published]).toEqual([1, []]);
  here.announce('mine');
  expect([count, published]).toEqual([1, ['mine']]);
});

test('without a listener the wait ends', async () => {
  const { here } = await setup();
  expect(await here.wait('mine', 10)).toBe(false);
});

test('a cancelled waiter is not called', async () => {
  const { here, there } = await setup();
  let count = 0;
  const stop = here.onListener('mine', () => (count += 1));
  stop();
  there.announce('mine');
  expect(count).toBe(0);
});

test('stopping unsubscribes from the channel', async () => {
  const { here, there, subscribers } = await setup();
  await here.stop();
  await there.stop();
  expect(subscribers.size).toBe(0);
});
