import { silentLog, type Channels } from '@model-gateway/kernel';
import { createSessionListeners } from './session-listeners.ts';

/** Two replicas on one channel. */
async function setup() {
  const heard = new Set<(message: string) => void>();
  const published: string[] = [];
  const channels: Channels = {
    publish: async (_channel, message) => {
      published.push(message);
      for (const onMessage of heard) onMessage(message);
      return heard.size;
    },
    subscribe: async (_channel, onMessage) => {
      heard.add(onMessage);
      return { close: async () => void heard.delete(onMessage) };
    },
  };
  const here = createSessionListeners({ channels, log: silentLog });
  const there = createSessionListeners({ channels, log: silentLog });
  await here.start();
  await there.start();
  return { here, there, published, heard };
}

test('whoever waits hears of a listener on another replica, and of no other session', async () => {
  const { here, there } = await setup();
  const waiting = here.wait('mine', 10_000);
  there.announce('other');
  there.announce('mine');
  expect(await waiting).toBe(true);
});

test('a listener on the same replica need not be told of', async () => {
  const { here, published } = await setup();
  let count = 0;
  here.onListener('mine', () => (count += 1));
  here.announce('mine');
  expect([count, published]).toEqual([1, []]);
  here.announce('mine');
  expect([count, published]).toEqual([1, ['mine']]);
});

test('when nobody comes, the wait ends', async () => {
  const { here } = await setup();
  expect(await here.wait('mine', 10)).toBe(false);
});

test('whoever no longer waits is not called', async () => {
  const { here, there } = await setup();
  let count = 0;
  const stop = here.onListener('mine', () => (count += 1));
  stop();
  there.announce('mine');
  expect(count).toBe(0);
});

test('stopping leaves the channel', async () => {
  const { here, there, heard } = await setup();
  await here.stop();
  await there.stop();
  expect(heard.size).toBe(0);
});
