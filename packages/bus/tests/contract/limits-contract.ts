import { PLACE_KEPT_MS, type LimitStore } from '@model-gateway/router';
import { withSubject, type MakeSubject } from './subject.ts';

/** The limits, and how a test makes what they counted older. */
export interface LimitsSubject {
  readonly limits: LimitStore;
  readonly age: (milliseconds: number) => Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 62_000;

/** What every kind of limit store does. */
export function describeLimits(name: string, make: MakeSubject<LimitsSubject>): void {
  const place = (id: string, backend = 'a') => ({ name: backend, id });

  describe(`limits of backends: ${name}`, () => {
    test(
      'only as many places of a backend are taken as its limit, whichever request is first',
      withSubject(make, async ({ limits }) => {
        const asked = Array.from({ length: 20 }, (_, index) =>
          limits.take(place(`${index}`), { concurrency: 4 }),
        );
        const reached = await Promise.all(asked);
        expect(reached.filter((limit) => limit === undefined)).toHaveLength(4);
        expect(reached.filter((limit) => limit === 'concurrency')).toHaveLength(16);
        expect(await limits.reached('a', { concurrency: 4 })).toBe('concurrency');
        expect(await limits.reached('a', { concurrency: 5 })).toBeUndefined();
        expect(await limits.take(place('x', 'b'), { concurrency: 1 })).toBeUndefined();
        const taken = reached.findIndex((limit) => limit === undefined);
        await limits.release(place(`${taken}`));
        await limits.release(place(`${taken}`));
        expect(await limits.take(place('y'), { concurrency: 4 })).toBeUndefined();
        expect(await limits.take(place('z'), { concurrency: 4 })).toBe('concurrency');
      }),
    );

    test(
      'a place that is not prolonged is free again after a while',
      withSubject(make, async ({ limits, age }) => {
        await limits.take(place('lost'), { concurrency: 2 });
        await limits.take(place('kept'), { concurrency: 2 });
        await age(PLACE_KEPT_MS - 5_000);
        await limits.keep([place('kept')]);
        expect(await limits.reached('a', { concurrency: 2 })).toBe('concurrency');
        await age(6_000);
        expect(await limits.reached('a', { concurrency: 2 })).toBeUndefined();
        expect(await limits.reached('a', { concurrency: 1 })).toBe('concurrency');
      }),
    );

    test(
      'so many requests are sent within any minute; one that was refused does not count',
      withSubject(make, async ({ limits, age }) => {
        const limit = { rpm: 2 };
        expect(await limits.take(place('1'), limit)).toBeUndefined();
        await age(30_000);
        expect(await limits.take(place('2'), limit)).toBeUndefined();
        expect(await limits.take(place('3'), limit)).toBe('rpm');
        await age(MINUTE_MS - 30_000);
        expect(await limits.take(place('4'), limit)).toBeUndefined();
        expect(await limits.take(place('5'), limit)).toBe('rpm');
      }),
    );

    test(
      'a backend is full when its tokens of the minute or of the day are used',
      withSubject(make, async ({ limits, age }) => {
        await limits.addTokens('a', 60);
        await limits.addTokens('a', 40);
        expect(await limits.reached('a', { tpm: 100 })).toBe('tpm');
        expect(await limits.reached('a', { tpm: 101, rpm: 1 })).toBeUndefined();
        expect(await limits.take(place('1'), { tokensPerDay: 100 })).toBe('tokensPerDay');
        expect(await limits.take(place('1'), { tokensPerDay: 101 })).toBeUndefined();
        await age(DAY_MS);
        expect(await limits.reached('a', { tpm: 1, tokensPerDay: 1 })).toBeUndefined();
        await limits.addTokens('a', 1);
        expect(await limits.reached('a', { tokensPerDay: 1 })).toBe('tokensPerDay');
      }),
    );
  });
}
