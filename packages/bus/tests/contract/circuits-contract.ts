import type { Circuit, CircuitStore } from '@model-gateway/router';
import { eventually } from '../eventually.ts';
import { withSubject, type MakeSubject } from './subject.ts';

const LONG_MS = 60_000;
const SHORT_MS = 100;
const RULES = { failuresMax: 3, openMs: LONG_MS, trialMs: LONG_MS };
const SHORT_RULES = { ...RULES, openMs: SHORT_MS };
const CLOSED = {
  failures: 0,
  forgottenInMs: undefined,
  openForMs: undefined,
  trial: undefined,
};
/** A closed circuit after so many failures. */
const counting = (failures: number) => ({
  ...CLOSED,
  failures,
  forgottenInMs: expect.any(Number) as number,
});

type Pass = (milliseconds: number) => void;

async function open(circuits: CircuitStore, rules = RULES): Promise<Circuit> {
  await circuits.failed('a', rules);
  await circuits.failed('a', rules);
  return circuits.failed('a', rules);
}

async function halfOpen(circuits: CircuitStore, passTime: Pass): Promise<void> {
  // On a busy machine failures can be so far apart that they do not open it.
  await eventually('it opens', async () => {
    return (await open(circuits, SHORT_RULES)).openForMs !== undefined;
  });
  passTime(SHORT_MS);
  await eventually('the open time is over', async () => {
    return (await circuits.read('a')).openForMs === 0;
  });
}

/** What every kind of circuit store does. */
export function describeCircuits(name: string, make: MakeSubject<CircuitStore>): void {
  describe(`circuits: ${name}`, () => {
    test(
      'so many failures in a row open a circuit, and only that one',
      withSubject(make, async (circuits) => {
        expect(await circuits.read('a')).toEqual(CLOSED);
        expect(await circuits.failed('a', RULES)).toEqual(counting(1));
        expect(await circuits.failed('a', RULES)).toEqual(counting(2));
        const opened = await circuits.failed('a', RULES);
        expect(opened).toMatchObject({ failures: 3, trial: undefined });
        expect(opened.openForMs).toBeGreaterThan(LONG_MS / 2);
        expect(opened.openForMs).toBeLessThanOrEqual(LONG_MS);
        expect(await circuits.read('b')).toEqual(CLOSED);
      }),
    );

    test(
      'a success ends the row of failures',
      withSubject(make, async (circuits) => {
        await circuits.failed('a', RULES);
        await circuits.failed('a', RULES);
        expect(await circuits.succeeded('a')).toEqual(CLOSED);
        expect(await circuits.failed('a', RULES)).toEqual(counting(1));
      }),
    );

    test(
      'failures that are older than the open time are forgotten',
      withSubject(make, async (circuits, passTime) => {
        await circuits.failed('a', RULES);
        await circuits.failed('a', SHORT_RULES);
        passTime(SHORT_MS);
        await eventually('the failures are forgotten', async () => {
          return (await circuits.read('a')).failures === 0;
        });
        expect(await circuits.failed('a', RULES)).toEqual(counting(1));
      }),
    );

    test(
      'requests that began before the circuit opened change nothing',
      withSubject(make, async (circuits) => {
        await open(circuits);
        expect(await circuits.succeeded('a')).toMatchObject({ failures: 3 });
        expect(await circuits.failed('a', { ...RULES, openMs: LONG_MS * 10 })).toMatchObject({
          failures: 3,
        });
        expect((await circuits.read('a')).openForMs).toBeLessThanOrEqual(LONG_MS);
      }),
    );

    test(
      'there is no trial while the circuit is closed or open',
      withSubject(make, async (circuits) => {
        expect(await circuits.takeTrial('a', 'me', RULES)).toEqual(CLOSED);
        await open(circuits);
        expect((await circuits.takeTrial('a', 'me', RULES)).trial).toBeUndefined();
      }),
    );

    test(
      'one of many gets the trial of a half-open circuit',
      withSubject(make, async (circuits, passTime) => {
        await halfOpen(circuits, passTime);
        const tokens = Array.from({ length: 20 }, (_, index) => `request ${index}`);
        const answers = await Promise.all(
          tokens.map((token) => circuits.takeTrial('a', token, RULES)),
        );
        const [winner, ...others] = new Set(answers.map(({ trial }) => trial?.token));
        expect(tokens).toContain(winner);
        expect(others).toEqual([]);
      }),
    );

    test(
      'a trial that goes well closes the circuit',
      withSubject(make, async (circuits, passTime) => {
        await halfOpen(circuits, passTime);
        await circuits.takeTrial('a', 'me', RULES);
        expect(await circuits.succeeded('a', 'somebody')).toMatchObject({ failures: 3 });
        expect(await circuits.succeeded('a', 'me')).toEqual(CLOSED);
      }),
    );

    test(
      'a trial that fails opens the circuit for another while',
      withSubject(make, async (circuits, passTime) => {
        await halfOpen(circuits, passTime);
        await circuits.takeTrial('a', 'me', RULES);
        expect((await circuits.failed('a', RULES, 'somebody')).openForMs).toBe(0);
        const opened = await circuits.failed('a', RULES, 'me');
        expect(opened.trial).toBeUndefined();
        expect(opened.openForMs).toBeGreaterThan(LONG_MS / 2);
      }),
    );

    test(
      'a trial that is given back can be taken by another',
      withSubject(make, async (circuits, passTime) => {
        await halfOpen(circuits, passTime);
        await circuits.takeTrial('a', 'me', RULES);
        expect((await circuits.releaseTrial('a', 'somebody')).trial?.token).toBe('me');
        expect((await circuits.releaseTrial('a', 'me')).trial).toBeUndefined();
        expect((await circuits.takeTrial('a', 'next', RULES)).trial?.token).toBe('next');
      }),
    );

    test(
      'a trial whose holder is never heard of again expires',
      withSubject(make, async (circuits, passTime) => {
        await halfOpen(circuits, passTime);
        await circuits.takeTrial('a', 'me', { ...RULES, trialMs: SHORT_MS });
        passTime(SHORT_MS);
        await eventually('the trial is free', async () => {
          return (await circuits.takeTrial('a', 'next', RULES)).trial?.token === 'next';
        });
        expect(await circuits.succeeded('a', 'me')).toMatchObject({ failures: 3 });
      }),
    );

    test(
      'a circuit that is removed is closed',
      withSubject(make, async (circuits) => {
        await open(circuits);
        await circuits.remove('a');
        await circuits.remove('a');
        expect(await circuits.read('a')).toEqual(CLOSED);
      }),
    );
  });
}
