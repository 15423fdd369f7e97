import type { Entries } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { beforeExpiry, withSubject, type MakeSubject } from './subject.ts';

const LONG = { expiresAfterMs: 60_000 };
const SHORT_MS = 100;
const SHORT = { expiresAfterMs: SHORT_MS };

/** What every kind of entries does. */
export function describeEntries(name: string, make: MakeSubject<Entries>): void {
  describe(`entries: ${name}`, () => {
    test(
      'what was put is read until it is replaced or removed',
      withSubject(make, async (entries) => {
        expect(await entries.get('owner')).toBeUndefined();
        await entries.put('owner', 'a', LONG);
        await entries.put('another', '', LONG);
        expect(await entries.get('owner')).toBe('a');
        await entries.put('owner', 'b', LONG);
        expect(await entries.get('owner')).toBe('b');
        await entries.remove('owner');
        await entries.remove('owner');
        expect(await entries.get('owner')).toBeUndefined();
        expect(await entries.get('another')).toBe('');
      }),
    );

    test(
      'one of many that find no entry puts it, and all learn which',
      withSubject(make, async (entries) => {
        const values = Array.from({ length: 20 }, (_, index) => `process ${index}`);
        const claims = values.map((value) => entries.putIfAbsent('owner', value, LONG));
        const [owner = '', ...others] = new Set(await Promise.all(claims));
        expect(values).toContain(owner);
        expect(others).toEqual([]);
        expect(await entries.get('owner')).toBe(owner);
        await entries.remove('owner');
        expect(await entries.putIfAbsent('owner', 'next', LONG)).toBe('next');
      }),
    );

    test(
      'an entry is removed by its value only while it has it',
      withSubject(make, async (entries) => {
        expect(await entries.removeIf('owner', 'a')).toBe(false);
        await entries.put('owner', 'a', LONG);
        expect(await entries.removeIf('owner', 'b')).toBe(false);
        expect(await entries.get('owner')).toBe('a');
        const removals = Array.from({ length: 5 }, () => entries.removeIf('owner', 'a'));
        expect((await Promise.all(removals)).filter(Boolean)).toHaveLength(1);
        expect(await entries.get('owner')).toBeUndefined();
      }),
    );

    test(
      'an entry expires, and may be put again',
      withSubject(make, async (entries, passTime) => {
        await entries.put('put', 'a', SHORT);
        await entries.putIfAbsent('claimed', 'a', SHORT);
        passTime(SHORT_MS);
        await eventually('one expired', async () => (await entries.get('put')) === undefined);
        await eventually('so did the other', async () => {
          return (await entries.putIfAbsent('claimed', 'b', LONG)) === 'b';
        });
        expect(await entries.removeIf('put', 'a')).toBe(false);
      }),
    );

    test(
      'putting sets the expiry anew, finding an entry does not',
      withSubject(make, async (entries, passTime) => {
        let found: string | undefined;
        const shortMs = await beforeExpiry(async (time) => {
          await entries.put('found', 'a', { expiresAfterMs: time });
          found = await entries.putIfAbsent('found', 'b', LONG);
        });
        expect(found).toBe('a');
        await entries.put('slides', 'a', { expiresAfterMs: shortMs });
        await entries.put('slides', 'a', LONG);
        passTime(shortMs);
        await eventually('it expired', async () => (await entries.get('found')) === undefined);
        expect(await entries.get('slides')).toBe('a');
      }),
    );

    test.each([0, -1, 0.5, Number.NaN, Infinity])('an expiry after %p ms is refused', (time) =>
      withSubject(make, async (entries) => {
        const times = { expiresAfterMs: time };
        await expect(entries.put('a', 'b', times)).rejects.toThrow(RangeError);
        await expect(entries.putIfAbsent('a', 'b', times)).rejects.toThrow(RangeError);
        expect(await entries.get('a')).toBeUndefined();
      })(),
    );
  });
}
