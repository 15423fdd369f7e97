import type { Counters } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { beforeExpiry, withSubject, type MakeSubject } from './subject.ts';

const LONG_MS = 60_000;

/** What every kind of counters does. */
export function describeCounters(name: string, make: MakeSubject<Counters>): void {
  describe(`counters: ${name}`, () => {
    test(
      'adding answers the new value, up and down',
      withSubject(make, async (counters) => {
        expect(await counters.add('requests', 5)).toBe(5);
        expect(await counters.add('requests', -7)).toBe(-2);
        const hundred = Array.from({ length: 100 }, () => counters.add('requests', 1));
        expect(Math.max(...(await Promise.all(hundred)))).toBe(98);
      }),
    );

    test(
      'values are read in the order of the keys, and what does not exist is 0',
      withSubject(make, async (counters) => {
        await counters.add('a', 1);
        await counters.add('b', 2);
        expect(await counters.read(['b', 'missing', 'a'])).toEqual([2, 0, 1]);
        expect(await counters.read([])).toEqual([]);
      }),
    );

    test(
      'a removed counter starts again at 0',
      withSubject(make, async (counters) => {
        await counters.add('a', 3);
        await counters.remove('a');
        await counters.remove('a');
        expect(await counters.read(['a'])).toEqual([0]);
        expect(await counters.add('a', 1)).toBe(1);
      }),
    );

    test(
      'the expiry is set when the counter is created and not moved by adding',
      withSubject(make, async (counters, passTime) => {
        const shortMs = await beforeExpiry(async (time) => {
          await counters.remove('window');
          await counters.add('window', 1, { expiresAfterMs: time });
          await counters.add('window', 1, { expiresAfterMs: LONG_MS });
        });
        await counters.add('lasting', 1);
        await counters.add('lasting', 1, { expiresAfterMs: shortMs });
        passTime(shortMs);
        await eventually('it expired', async () => (await counters.read(['window']))[0] === 0);
        expect(await counters.read(['lasting'])).toEqual([2]);
      }),
    );

    test(
      'a fraction is refused',
      withSubject(make, async (counters) => {
        await expect(counters.add('a', 0.5)).rejects.toThrow(RangeError);
        expect(await counters.read(['a'])).toEqual([0]);
      }),
    );
  });
}
