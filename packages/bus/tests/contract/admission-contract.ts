import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { AdmissionAnswer, AdmissionRequest, AdmissionStore } from '@model-gateway/billing';
import {
  ACCOUNT,
  KEY,
  admittedCount,
  request,
  WINDOW,
  type AdmissionSubject,
  type On,
} from './admission-subject.ts';
import { describeCalls } from './calls-contract.ts';
import { describeKeyLimits } from './key-limits-contract.ts';
import { describeReservations } from './reservation-contract.ts';
import { withSubject, type MakeSubject } from './subject.ts';

const GROUP = { name: 'group:b', requestsPerMinute: 12 };
const MINUTE_MS = 60_000;

const USAGE = { costUsd: 0.1 + 0.2, tokens: 123_456, version: 7 };
const STATE = {
  balance: 500,
  hasHistory: true,
  increases: 2,
  version: 3,
};

const FREE = {
  reserved: { tokens: 0, costUsd: 0, points: 0 },
  unsettled: { tokens: 0, costUsd: 0 },
  hasBegun: true,
  counted: expect.any(Array) as unknown,
};

/** What every kind of admission does. */
export function describeAdmission(name: string, make: MakeSubject<AdmissionSubject>): void {
  const on = (body: (subject: AdmissionSubject) => Promise<void>): (() => Promise<void>) =>
    withSubject(make, body);

  describe(`admission: ${name}`, () => {
    describeLimits(on);
    describeEpoch(on);
    describeCompany(on);
    describeFacts(on);
    describeCalls(on);
    describeReservations(on);
    describeKeyLimits(on);
  });
}

async function admitTimes(
  admission: AdmissionStore,
  times: number,
  limits: AdmissionRequest['limits'],
): Promise<readonly AdmissionAnswer[]> {
  return Promise.all(Array.from({ length: times }, () => admission.admit(request({ limits }))));
}

function describeLimits(on: On): void {
  test(
    'of any number at once exactly as many pass as the limit says, and the next refusal names the limit',
    on(async ({ admission }) => {
      expect(admittedCount(await admitTimes(admission, 50, [KEY]))).toBe(10);
      expect(await admission.admit(request({ limits: [KEY] }))).toEqual({
        outcome: 'limited',
        epoch: 0,
        limit: KEY,
        window: undefined,
      });
      await admission.updateHints({ windows: [{ ...WINDOW, ...USAGE }], accounts: [] });
      expect(await admission.admit(request({ limits: [KEY], window: WINDOW }))).toMatchObject({
        outcome: 'limited',
        window: USAGE,
      });
    }),
  );

  test(
    'the 10th of 10 within a minute passes and the 11th does not; a minute after the first the next passes',
    on(async ({ admission, passTime }) => {
      // The clock of Redis goes on meanwhile: every step leaves it more than 20 s.
      expect(admittedCount(await admitTimes(admission, 1, [KEY]))).toBe(1);
      await passTime(30_000);
      expect(admittedCount(await admitTimes(admission, 9, [KEY]))).toBe(9);
      expect(admittedCount(await admitTimes(admission, 1, [KEY]))).toBe(0);
      await passTime(5_000);
      expect(admittedCount(await admitTimes(admission, 1, [KEY]))).toBe(0);
      // A minute after the first, and 30 s after the others.
      await passTime(25_000);
      expect(admittedCount(await admitTimes(admission, 2, [KEY]))).toBe(1);
      await passTime(30_000);
      expect(admittedCount(await admitTimes(admission, 20, [KEY]))).toBe(9);
    }),
  );

  test(
    'an answer says how many requests each limit counts, and when the oldest stops counting',
    on(async ({ admission, passTime }) => {
      await admitTimes(admission, 3, [KEY]);
      await passTime(30_000);
      const [answer] = await admitTimes(admission, 1, [KEY, GROUP]);
      const [ofKey, ofGroup] = answer?.outcome === 'admitted' ? answer.counted : [];
      expect([ofKey?.count, ofGroup?.count]).toEqual([4, 1]);
      expect(ofKey?.nextFreeMs).toBeLessThanOrEqual(30_000);
      expect(ofKey?.nextFreeMs).toBeGreaterThan(0);
      expect(ofGroup?.nextFreeMs).toBeGreaterThan(30_000);
      // The first three are older than a minute.
      await passTime(30_000);
      expect(await admitTimes(admission, 1, [KEY])).toMatchObject([{ counted: [{ count: 2 }] }]);
    }),
  );

  test(
    'what was refused does not count, in none of the limits',
    on(async ({ admission, passTime }) => {
      await admitTimes(admission, 10, [KEY, GROUP]);
      await passTime(MINUTE_MS - 30_000);
      expect(admittedCount(await admitTimes(admission, 10, [GROUP, KEY]))).toBe(0);
      expect(admittedCount(await admitTimes(admission, 5, [GROUP]))).toBe(2);
      await passTime(30_000);
      expect(admittedCount(await admitTimes(admission, 20, [KEY]))).toBe(10);
      expect(admittedCount(await admitTimes(admission, 20, [GROUP]))).toBe(10);
    }),
  );

  test(
    'a limit that changes holds for what was counted before',
    on(async ({ admission }) => {
      expect(admittedCount(await admitTimes(admission, 10, [KEY]))).toBe(10);
      expect(
        admittedCount(await admitTimes(admission, 1, [{ ...KEY, requestsPerMinute: 5 }])),
      ).toBe(0);
      expect(
        admittedCount(await admitTimes(admission, 5, [{ ...KEY, requestsPerMinute: 12 }])),
      ).toBe(2);
    }),
  );

  test(
    'a limit of 0 refuses everything, and without limits everything passes',
    on(async ({ admission }) => {
      expect(
        admittedCount(await admitTimes(admission, 2, [{ ...KEY, requestsPerMinute: 0 }])),
      ).toBe(0);
      expect(admittedCount(await admitTimes(admission, 100, []))).toBe(100);
    }),
  );
}

function describeEpoch(on: On): void {
  test(
    'a caller with an old epoch is refused and not counted',
    on(async ({ admission, counters }) => {
      await counters.add(ACCOUNT_EPOCH_KEY, 5);
      const limits = [{ ...KEY, requestsPerMinute: 1 }];
      const stale = { outcome: 'stale', epoch: 5 };
      expect(await admission.admit(request({ knownEpoch: 4, limits }))).toEqual(stale);
      expect(await admission.admit(request({ knownEpoch: 4, window: WINDOW }))).toEqual(stale);
      expect(await admission.admit(request({ knownEpoch: 5, limits }))).toMatchObject({
        outcome: 'admitted',
        epoch: 5,
      });
      expect(await admission.admit(request({ knownEpoch: 6, limits }))).toMatchObject({
        outcome: 'limited',
        epoch: 5,
      });
    }),
  );
}

function describeCompany(on: On): void {
  test(
    'requests that come at the same moment are each answered for themselves',
    on(async ({ admission, counters }) => {
      await counters.add(ACCOUNT_EPOCH_KEY, 2);
      await admission.updateHints({ windows: [], accounts: [{ ...ACCOUNT, ...STATE }] });
      const one = { name: 'key:one', requestsPerMinute: 1 };
      const answers = await Promise.all([
        admission.admit(request({ knownEpoch: 2, limits: [GROUP, one], window: WINDOW })),
        admission.admit(request({ knownEpoch: 1, limits: [KEY], account: ACCOUNT })),
        admission.admit(request({ knownEpoch: 2, window: WINDOW, account: ACCOUNT })),
        admission.admit(request({ knownEpoch: 3, limits: [GROUP, one] })),
      ]);
      const nothing = { window: undefined, account: undefined, ...FREE };
      expect(answers).toEqual([
        { outcome: 'admitted', epoch: 2, ...nothing },
        { outcome: 'stale', epoch: 2 },
        { outcome: 'admitted', epoch: 2, window: undefined, account: STATE, ...FREE },
        { outcome: 'limited', epoch: 2, limit: one, window: undefined },
      ]);
      const more = Array.from({ length: 300 }, () =>
        admission.admit(request({ knownEpoch: 2, limits: [GROUP] })),
      );
      expect(admittedCount(await Promise.all(more))).toBe(11);
    }),
  );
}

function describeFacts(on: On): void {
  const full = { windows: [{ ...WINDOW, ...USAGE }], accounts: [{ ...ACCOUNT, ...STATE }] };

  test(
    'facts are undefined until they are learned, and come with every way of asking',
    on(async ({ admission }) => {
      const asking = { window: WINDOW, account: ACCOUNT };
      const nothing = { window: undefined, account: undefined };
      expect(await admission.admit(request(asking))).toMatchObject(nothing);
      expect(await admission.admit(request({ ...asking, limits: [KEY] }))).toMatchObject(nothing);
      await admission.updateHints(full);
      const ways = [
        { ask: asking, answer: { window: USAGE, account: STATE } },
        { ask: { ...asking, limits: [KEY, GROUP] }, answer: { window: USAGE, account: STATE } },
        { ask: { window: WINDOW }, answer: { window: USAGE, account: undefined } },
        { ask: { account: ACCOUNT, limits: [KEY] }, answer: { window: undefined, account: STATE } },
      ];
      for (const { ask, answer } of ways) {
        expect(await admission.admit(request(ask))).toEqual({
          outcome: 'admitted',
          epoch: 0,
          ...answer,
          ...FREE,
        });
      }
    }),
  );

  test(
    'what is older than what is known changes nothing, what is newer takes its place',
    on(async ({ admission }) => {
      await admission.updateHints(full);
      await admission.updateHints({
        windows: [{ ...WINDOW, costUsd: 0, tokens: 0, version: 6 }],
        accounts: [{ ...ACCOUNT, ...STATE, balance: 1, version: 2 }],
      });
      const ask = request({ window: WINDOW, account: ACCOUNT });
      expect(await admission.admit(ask)).toMatchObject({ window: USAGE, account: STATE });
      const newer = { balance: 0, hasHistory: false, increases: 0, version: 10 };
      await admission.updateHints({ windows: [], accounts: [{ ...ACCOUNT, ...newer }] });
      expect(await admission.admit(ask)).toMatchObject({ window: USAGE, account: newer });
    }),
  );

  test(
    'windows of other users and months and accounts of another type are others',
    on(async ({ admission }) => {
      await admission.updateHints(full);
      const others = [
        { ...WINDOW, userId: 'other' },
        { ...WINDOW, month: '2031-01' },
      ];
      for (const window of others) {
        expect(await admission.admit(request({ window }))).toMatchObject({ window: undefined });
      }
      const account = { type: 'group', id: 'user' } as const;
      expect(await admission.admit(request({ account }))).toMatchObject({ account: undefined });
    }),
  );

  test(
    'more facts than fit into one step are learned all the same',
    on(async ({ admission }) => {
      const ids = Array.from({ length: 450 }, (_, index) => `user ${index}`);
      const windows = ids.map((userId) => ({ ...WINDOW, userId, ...USAGE }));
      await admission.updateHints({
        windows,
        accounts: ids.map((id) => ({ type: 'user', id, ...STATE })),
      });
      for (const id of ['user 0', 'user 449']) {
        const window = { ...WINDOW, userId: id };
        const account = { type: 'user', id } as const;
        expect(await admission.admit(request({ window, account }))).toMatchObject({
          window: USAGE,
          account: STATE,
        });
      }
      await admission.updateHints({ windows: [], accounts: [] });
    }),
  );
}
