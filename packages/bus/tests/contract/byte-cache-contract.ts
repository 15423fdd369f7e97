import type { ByteCache } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { withSubject, type MakeSubject } from './subject.ts';

const LONG = { expiresAfterMs: 60_000 };

/** What every cache of bytes does. */
export function describeByteCache(name: string, make: MakeSubject<ByteCache>): void {
  describe(`byte cache: ${name}`, () => {
    test(
      'bytes come back as they were stored, the latest ones',
      withSubject(make, async (cache) => {
        const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
        expect(await cache.get('a')).toBeUndefined();
        expect(await cache.put('a', Buffer.from('first'), LONG)).toBe(true);
        expect(await cache.put('a', bytes, LONG)).toBe(true);
        expect(await cache.put('b', Buffer.from('other'), LONG)).toBe(true);
        expect([...((await cache.get('a')) ?? [])]).toEqual([...bytes]);
      }),
    );

    test(
      'an entry expires',
      withSubject(make, async (cache, passTime) => {
        await cache.put('a', Buffer.from('old'), { expiresAfterMs: 20 });
        passTime(20);
        await eventually('it is gone', async () => (await cache.get('a')) === undefined);
      }),
    );
  });
}
