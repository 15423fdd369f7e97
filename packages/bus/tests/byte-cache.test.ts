import { createLocalByteCache } from '../src/local/local-byte-cache.ts';
import { createRedisByteCache } from '../src/redis/redis-byte-cache.ts';
import { manualClock } from '@model-gateway/kernel';
import { redisSubject } from './subjects.ts';

const LONG = { expiresAfterMs: 60_000 };
const bytes = (size: number) => Buffer.alloc(size, 'x');

test('all entries on Redis together have a limit: those that expire first make room', async () => {
  const subject = await redisSubject((options) =>
    createRedisByteCache({ ...options, bytesMax: 1_000 }),
  );
  const { port: cache } = subject;
  const kept = async (...keys: string[]) =>
    Promise.all(keys.map(async (key) => (await cache.get(key)) !== undefined));
  await cache.put('long', bytes(400), { expiresAfterMs: 90_000 });
  await cache.put('short', bytes(400), { expiresAfterMs: 30_000 });
  await cache.put('next', bytes(400), LONG);
  expect(await kept('long', 'short', 'next')).toEqual([true, false, true]);
  // Replacing an entry takes no further room.
  for (let count = 0; count < 5; count += 1) await cache.put('next', bytes(500), LONG);
  expect(await kept('long', 'next')).toEqual([true, true]);
  expect(await cache.put('huge', bytes(1_001), LONG)).toBe(false);
  expect(await kept('huge', 'long', 'next')).toEqual([false, true, true]);
  await subject.close();
});

test('what has expired on Redis takes no room, also if nothing else is left', async () => {
  const subject = await redisSubject((options) =>
    createRedisByteCache({ ...options, bytesMax: 1_000 }),
  );
  const { port: cache } = subject;
  await cache.put('long', bytes(900), LONG);
  await cache.put('brief', bytes(900), { expiresAfterMs: 1 });
  while ((await cache.get('brief')) !== undefined);
  // The list of what there is expires a little later.
  while (!(await cache.put('after', bytes(1_000), LONG)));
  expect(await cache.get('after')).toEqual(bytes(1_000));
  await subject.close();
});

test('a process keeps a limited number of bytes, the latest', async () => {
  const cache = createLocalByteCache({ clock: manualClock(1_000), bytesMax: 4_000 });
  for (const key of ['a', 'b', 'c']) await cache.put(key, bytes(1_000), LONG);
  expect(await cache.get('a')).toBeUndefined();
  expect(await cache.get('c')).toBeDefined();
  await cache.put('huge', bytes(5_000), LONG);
  expect(await cache.get('huge')).toBeUndefined();
});
