import type { Lock, Locks } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { beforeExpiry, withSubject, type MakeSubject } from './subject.ts';

const LONG_MS = 60_000;
const SHORT_MS = 100;

/** What every kind of locks does. */
export function describeLocks(name: string, make: MakeSubject<Locks>): void {
  describe(`locks: ${name}`, () => {
    test(
      'one of many gets the lock',
      withSubject(make, async (locks) => {
        const attempts = Array.from({ length: 20 }, () => locks.acquire('prober', LONG_MS));
        const held = (await Promise.all(attempts)).filter((lock) => lock !== undefined);
        expect(held).toHaveLength(1);
        expect(await locks.acquire('another', LONG_MS)).toBeDefined();
      }),
    );

    test(
      'a released lock can be taken again, and its former holder has lost it',
      withSubject(make, async (locks) => {
        const first = await locks.acquire('job', LONG_MS);
        expect(await first?.release()).toBe(true);
        const second = await locks.acquire('job', LONG_MS);
        expect(second).toBeDefined();
        expect(await first?.release()).toBe(false);
        expect(await first?.extend(LONG_MS)).toBe(false);
        expect(await second?.extend(LONG_MS)).toBe(true);
      }),
    );

    test(
      'a lock that is not extended expires',
      withSubject(make, async (locks, passTime) => {
        const first = await locks.acquire('job', SHORT_MS);
        passTime(SHORT_MS);
        await eventually(
          'the lock is free',
          async () => (await locks.acquire('job', LONG_MS)) !== undefined,
        );
        expect(await first?.extend(LONG_MS)).toBe(false);
        expect(await first?.release()).toBe(false);
      }),
    );

    test(
      'an extended lock outlives its first expiry',
      withSubject(make, async (locks, passTime) => {
        let held: Lock | undefined;
        let isExtended: boolean | undefined;
        const shortMs = await beforeExpiry(async (time) => {
          await held?.release();
          held = await locks.acquire('job', time);
          isExtended = await held?.extend(LONG_MS);
        });
        expect(isExtended).toBe(true);
        expect(await locks.acquire('timer', shortMs)).toBeDefined();
        passTime(shortMs);
        await eventually(
          'the first expiry has passed',
          async () => (await locks.acquire('timer', LONG_MS)) !== undefined,
        );
        expect(await locks.acquire('job', LONG_MS)).toBeUndefined();
        expect(await held?.release()).toBe(true);
      }),
    );
  });
}
