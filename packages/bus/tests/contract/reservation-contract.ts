import type { CallEnd, KeyLimits, ReservedAmounts } from '@model-gateway/billing';
import {
  ACCOUNT,
  callOf,
  KEY,
  NONE,
  passed,
  request,
  reserving,
  WINDOW,
  type Amounts,
  type On,
} from './admission-subject.ts';

const CALL_KEPT_MS = 15 * 60_000;

const end = (id: string, what: Partial<CallEnd> = {}): CallEnd => ({
  id,
  userId: 'user',
  endsCall: true,
  endsReservation: true,
  isUrgent: false,
  ...what,
});

/** Calls in flight. */
export function describeCalls(on: On): void {
  test(
    'of any number at once exactly as many calls begin as allowed, and each that ends makes room for one, once',
    on(async ({ admission }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`);
      const begin = (id: string) =>
        admission.admit(request({ limits: [KEY], call: callOf(id, { callsMax: 5 }) }));
      const answers = await Promise.all(ids.map(begin));
      expect(passed(answers)).toBe(5);
      expect(answers.at(-1)).toMatchObject({ outcome: 'busy', counted: [{ count: 5 }] });
      admission.endCall(end('call 0'));
      admission.endCall(end('call 0'));
      // Those that were busy did not count in the limit of 10: the sixth and the seventh of it follow.
      expect(await begin('another')).toMatchObject({ outcome: 'passed', hasBegun: true });
      expect(await begin('one more')).toMatchObject({ outcome: 'busy' });
      expect(await begin('another')).toMatchObject({ outcome: 'passed' });
      const elsewhere = callOf('call 0', { userId: 'other', callsMax: 1 });
      expect(await admission.admit(request({ call: elsewhere }))).toMatchObject({
        outcome: 'passed',
      });
    }),
  );

  test(
    'a call that is not ended expires after 15 minutes, unless it is extended',
    on(async ({ admission, passTime }) => {
      const begin = (id: string) => admission.admit(request({ call: callOf(id, { callsMax: 2 }) }));
      await begin('lost');
      await begin('long');
      await passTime(CALL_KEPT_MS - 60_000);
      expect(await begin('more')).toMatchObject({ outcome: 'busy' });
      expect(await begin('long')).toMatchObject({ outcome: 'passed' });
      await passTime(60_000);
      expect(await begin('more')).toMatchObject({ outcome: 'passed' });
      expect(await begin('too many')).toMatchObject({ outcome: 'busy' });
    }),
  );
}

/** What calls in flight reserve, and what they have used. */
export function describeReservations(on: On): void {
  const used = (tokens: number, costUsd = 0, version = 1) => ({
    windows: [{ ...WINDOW, tokens, costUsd, version }],
    accounts: [{ ...ACCOUNT, balance: 0, hasHistory: false, refusedUntil: null, version: 1 }],
  });

  test(
    'a request gets the last token whatever it reserves, and until it ends no other begins',
    on(async ({ admission }) => {
      await admission.updateHints(used(99));
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((id) => admission.admit(reserving(id, { tokens: 1_000 }))),
      );
      expect(answers).toMatchObject([
        { hasBegun: true, reserved: NONE },
        { hasBegun: false, reserved: { ...NONE, tokens: 1_000 } },
        { hasBegun: false, reserved: { ...NONE, tokens: 1_000 } },
      ]);
      admission.endCall(end('a'));
      admission.endCall(end('a'));
      admission.endCall(end('b'));
      expect(await admission.admit(reserving('d', { tokens: 1 }))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
    }),
  );

  test.each([NaN, Infinity, 1e308])(
    'amounts of %p count as the most that there is, and leave nothing behind',
    async (amount) =>
      on(async ({ admission, leftOver }) => {
        await admission.updateHints(used(0));
        const amounts = { tokens: amount, costUsd: amount, points: amount };
        const key = { id: 'key', budgetUsd: 1, tokensPerMinute: null };
        expect(await admission.admit(reserving('a', { ...amounts, key }))).toMatchObject({
          hasBegun: true,
        });
        for (const id of ['b', 'c']) {
          const answer = await admission.admit(reserving(id, { tokens: 1 }));
          expect(answer).toMatchObject({ hasBegun: false });
          expect(answer.outcome === 'passed' && answer.reserved.tokens).toBeGreaterThan(1e12);
        }
        admission.endCall(end('a', { usage: amounts, keyId: 'key' }));
        expect(await admission.admit(reserving('d', { tokens: 1 }))).toMatchObject({
          hasBegun: false,
        });
        await admission.updateHints({ ...used(0, 0, 2), settled: [{ id: 'a', userId: 'user' }] });
        expect(await admission.admit(reserving('e', { tokens: 1 }))).toMatchObject({
          hasBegun: true,
          reserved: NONE,
        });
        admission.endCall(end('e'));
        expect(await leftOver()).toEqual([]);
      })(),
  );

  test(
    'what is less than nothing reserves nothing',
    on(async ({ admission }) => {
      await admission.updateHints(used(99));
      const amounts = { tokens: -Infinity, costUsd: -1e308, points: -1 };
      expect(await admission.admit(reserving('a', amounts))).toMatchObject({ hasBegun: true });
      expect(await admission.admit(reserving('b', { tokens: 5 }))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
      expect(await admission.admit(reserving('c', {}))).toMatchObject({ hasBegun: false });
    }),
  );

  test(
    'reservations of USD and of points bind like those of tokens',
    on(async ({ admission }) => {
      await admission.updateHints(used(0, 0.7));
      const costs = (id: string) => admission.admit(reserving(id, { costUsd: 0.1 }));
      expect(await costs('a')).toMatchObject({ hasBegun: true });
      expect(await costs('b')).toMatchObject({ hasBegun: true, reserved: { costUsd: 0.1 } });
      expect(await costs('c')).toMatchObject({ hasBegun: true, reserved: { costUsd: 0.2 } });
      expect(await costs('d')).toMatchObject({ hasBegun: false });
      const pool = { type: 'group', id: 'pool' } as const;
      await admission.updateHints({
        windows: [],
        accounts: [{ ...pool, balance: 3, hasHistory: true, refusedUntil: null, version: 1 }],
      });
      const draws = (id: string, values: Amounts = {}) =>
        admission.admit(reserving(id, { points: 2, ...values }, pool));
      expect(await draws('e')).toMatchObject({ hasBegun: true });
      expect(await draws('f')).toMatchObject({ hasBegun: true, reserved: { points: 2 } });
      expect(await draws('g')).toMatchObject({ hasBegun: false, reserved: { points: 4 } });
      admission.endCall(end('e'));
      expect(await draws('h', { isPriced: false })).toMatchObject({ hasBegun: false });
      expect(await draws('i')).toMatchObject({ hasBegun: true, reserved: { points: 2 } });
    }),
  );

  test(
    'unknown facts and unlimited tiers refuse no reservation',
    on(async ({ admission }) => {
      const many = { tokens: 1_000_000 };
      expect(await admission.admit(reserving('a', many))).toMatchObject({ hasBegun: true });
      expect(await admission.admit(reserving('b', many))).toMatchObject({ hasBegun: true });
      await admission.updateHints(used(100));
      const tier = { monthlyUsdQuota: null, monthlyTokenQuota: null };
      expect(await admission.admit(reserving('c', many))).toMatchObject({ hasBegun: false });
      expect(await admission.admit(reserving('c', { ...many, tier }))).toMatchObject({
        hasBegun: true,
        reserved: { tokens: 2_000_000 },
      });
    }),
  );

  test(
    'a job keeps its reservation after its call, until it ends',
    on(async ({ admission }) => {
      await admission.updateHints(used(0));
      const ask = (id: string) => admission.admit(reserving(id, { costUsd: 1 }));
      await ask('job');
      admission.endCall(end('job', { endsReservation: false }));
      expect(await ask('a')).toMatchObject({ hasBegun: false, reserved: { costUsd: 1 } });
      const busy = callOf('b', { callsMax: 1 });
      expect(await admission.admit(request({ call: busy }))).toMatchObject({ outcome: 'passed' });
      admission.endCall(end('b'));
      admission.endCall(end('job', { endsCall: false }));
      expect(await ask('c')).toMatchObject({ hasBegun: true, reserved: NONE });
    }),
  );

  test(
    'the reservation of a lost process ends by itself after 15 minutes',
    on(async ({ admission, passTime }) => {
      await admission.updateHints(used(0));
      await admission.admit(reserving('lost', { tokens: 100, points: 1 }));
      await passTime(CALL_KEPT_MS - 60_000);
      // Facts of one process alone are known for less than that.
      await admission.updateHints(used(0));
      expect(await admission.admit(reserving('a', { tokens: 1 }))).toMatchObject({
        hasBegun: false,
        reserved: { tokens: 100, points: 1 },
      });
      await passTime(60_000);
      await admission.updateHints(used(0));
      expect(await admission.admit(reserving('b', { tokens: 1 }))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
    }),
  );

  test(
    'what a call reserves from a user, a group and a key is renewed with it, and ends with it',
    on(async ({ admission, passTime, leftOver }) => {
      const account = { type: 'group', id: 'group' } as const;
      const key = { id: 'limited', budgetUsd: null, tokensPerMinute: 1_000_000 };
      const ask = async (id: string) => {
        await admission.updateHints(used(0));
        return admission.admit(reserving(id, { tokens: 100, points: 1, key }, account));
      };
      await ask('long');
      for (let times = 1; times <= 3; times += 1) {
        await passTime(CALL_KEPT_MS - 60_000);
        await admission.admit(request({ call: callOf('long') }));
        const reserved = { tokens: 100, points: 1 };
        expect(await ask('other')).toMatchObject({ reserved, key: { tokens: 100 } });
        admission.endCall(end('other'));
      }
      admission.endCall(end('long'));
      expect(await ask('other')).toMatchObject({ hasBegun: true, reserved: NONE });
      admission.endCall(end('other'));
      expect(await leftOver()).toEqual([]);
    }),
  );

  test(
    'what a call has used counts instead of its reservation, until it is settled',
    on(async ({ admission, leftOver }) => {
      await admission.updateHints(used(0));
      await admission.admit(reserving('a', { tokens: 20, costUsd: 0.5, points: 50 }));
      const usage = { tokens: 99, costUsd: 0.25, points: 25 };
      admission.endCall(end('a', { usage }));
      // Ending a call again changes nothing.
      admission.endCall(end('a', { usage: { tokens: 1, costUsd: 0, points: 0 } }));
      expect(await admission.admit(reserving('b', { tokens: 1, points: 1 }))).toMatchObject({
        hasBegun: true,
        reserved: usage,
        unsettled: { tokens: 99, costUsd: 0.25 },
      });
      expect(await admission.admit(reserving('c', { tokens: 1 }))).toMatchObject({
        hasBegun: false,
        reserved: { tokens: 100, costUsd: 0.25, points: 26 },
        unsettled: { tokens: 99, costUsd: 0.25 },
      });
      const settled = [{ id: 'a', userId: 'user' }];
      await admission.updateHints({ ...used(99, 0, 2), settled });
      await admission.updateHints({ ...used(99, 0, 2), settled });
      expect(await admission.admit(reserving('c', {}))).toMatchObject({
        hasBegun: false,
        window: { tokens: 99 },
        reserved: { tokens: 1, costUsd: 0, points: 1 },
        unsettled: { tokens: 0, costUsd: 0 },
      });
      admission.endCall(end('b'));
      expect(await admission.admit(reserving('d', {}))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
      admission.endCall(end('d'));
      expect(await leftOver()).toEqual([]);
    }),
  );

  test(
    'a call that is settled before it ends leaves nothing',
    on(async ({ admission, leftOver }) => {
      await admission.updateHints(used(0));
      await admission.admit(reserving('a', { tokens: 20, costUsd: 0.5, points: 50 }));
      await admission.updateHints({ ...used(99, 0, 2), settled: [{ id: 'a', userId: 'user' }] });
      admission.endCall(end('a', { usage: { tokens: 99, costUsd: 0.25, points: 25 } }));
      expect(await admission.admit(reserving('b', {}))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
      admission.endCall(end('b'));
      expect(await leftOver()).toEqual([]);
    }),
  );

  test(
    'more settled calls than fit into one step are settled all the same',
    on(async ({ admission, leftOver }) => {
      const ids = Array.from({ length: 450 }, (_, index) => `call ${index}`);
      // At once: while a store answers too slowly, a process counts by itself.
      await Promise.all(ids.map((id) => admission.admit(reserving(id, { tokens: 1 }))));
      for (const id of ids) {
        admission.endCall(end(id, { usage: { tokens: 2, costUsd: 0, points: 0 } }));
      }
      expect(await admission.admit(reserving('a', {}))).toMatchObject({
        reserved: { tokens: 900 },
      });
      admission.endCall(end('a'));
      const settled = ids.map((id) => ({ id, userId: 'user' }));
      await admission.updateHints({ ...used(900), settled });
      expect(await leftOver()).toEqual([]);
    }),
  );

  test(
    'a thousand requests, of which many fail, are refused or end twice, leave nothing reserved',
    on(async ({ admission, leftOver }) => {
      await admission.updateHints(used(0));
      const one = async (index: number): Promise<void> => {
        const id = `call ${index}`;
        const amounts = { tokens: index % 7, costUsd: index / 3e5, points: index % 3 };
        const answer = await admission.admit(reserving(id, amounts));
        if (answer.outcome !== 'passed') throw new Error('not passed');
        if (index % 3 === 0) await new Promise(setImmediate);
        if (answer.hasBegun || index % 2 === 0) admission.endCall(end(id));
        if (index % 5 === 0) admission.endCall(end(id, { isUrgent: true }));
      };
      await Promise.all(Array.from({ length: 1_000 }, (_, index) => one(index)));
      expect(await admission.admit(reserving('last', {}))).toMatchObject({
        hasBegun: true,
        reserved: NONE,
      });
      admission.endCall(end('last'));
      expect(await leftOver()).toEqual([]);
    }),
  );
}

/** The limits of keys: budgets and tokens per minute. */
export function describeKeyLimits(on: On): void {
  const BUDGET = { keyId: 'key', period: 'month', start: '2026-11-01' } as const;
  const spent = (costUsd: number, version = 1) => ({
    windows: [],
    accounts: [],
    budgets: [{ ...BUDGET, costUsd, version }],
  });
  const limited = (
    id: string,
    amounts: Partial<ReservedAmounts>,
    limits: Partial<KeyLimits> = {},
  ) =>
    request({
      budget: BUDGET,
      call: callOf(id, {
        reservation: {
          ...NONE,
          tier: { monthlyUsdQuota: null, monthlyTokenQuota: null },
          isPriced: true,
          account: ACCOUNT,
          key: { id: 'key', budgetUsd: 1, tokensPerMinute: null, ...limits },
          ...amounts,
        },
      }),
    });
  const ended = (id: string, usage: Partial<ReservedAmounts>) =>
    end(id, { keyId: 'key', isUrgent: true, usage: { ...NONE, ...usage } });

  test(
    'a budget counts what is spent, what is used and not settled, and what is reserved',
    on(async ({ admission }) => {
      await admission.updateHints(spent(0.5));
      expect(await admission.admit(limited('a', { costUsd: 0.4 }))).toMatchObject({
        hasBegun: true,
        budget: { costUsd: 0.5, version: 1 },
        key: { reservedUsd: 0, unsettledUsd: 0 },
      });
      expect(await admission.admit(limited('b', { costUsd: 0.4 }))).toMatchObject({
        hasBegun: true,
        key: { reservedUsd: 0.4 },
      });
      expect(await admission.admit(limited('c', { costUsd: 0.4 }))).toMatchObject({
        hasBegun: false,
        key: { reservedUsd: 0.8, unsettledUsd: 0 },
      });
      admission.endCall(ended('a', { costUsd: 0.3 }));
      admission.endCall(end('b'));
      expect(await admission.admit(limited('d', { costUsd: 0.2 }))).toMatchObject({
        hasBegun: true,
        key: { reservedUsd: 0.3, unsettledUsd: 0.3 },
      });
      admission.endCall(end('d'));
      await admission.updateHints({
        ...spent(0.8, 2),
        settled: [{ id: 'a', userId: 'user' }],
      });
      await admission.updateHints(spent(0.1, 1));
      expect(await admission.admit(limited('e', {}))).toMatchObject({
        hasBegun: true,
        budget: { costUsd: 0.8, version: 2 },
        key: { reservedUsd: 0, unsettledUsd: 0 },
      });
      await admission.updateHints(spent(1, 3));
      expect(await admission.admit(limited('f', {}))).toMatchObject({ hasBegun: false });
    }),
  );

  test(
    'of many requests at once only as many begin as the budget covers, and one more',
    on(async ({ admission }) => {
      await admission.updateHints(spent(0));
      const ids = Array.from({ length: 50 }, (_, index) => `call ${index}`);
      const answers = await Promise.all(
        ids.map((id) => admission.admit(limited(id, { costUsd: 0.3 }))),
      );
      expect(answers.filter((answer) => 'hasBegun' in answer && answer.hasBegun)).toHaveLength(4);
    }),
  );

  test(
    'tokens of a key count while they are in flight, and for a minute after they were used',
    on(async ({ admission, passTime }) => {
      const limits = { budgetUsd: null, tokensPerMinute: 100 };
      const admit = (id: string, tokens: number) =>
        admission.admit({ ...limited(id, { tokens }, limits), limits: [KEY] });
      expect(await admit('a', 90)).toMatchObject({ outcome: 'passed', key: { tokens: 0 } });
      expect(await admit('b', 90)).toMatchObject({ outcome: 'passed', key: { tokens: 90 } });
      expect(await admit('c', 1)).toMatchObject({ outcome: 'tokens_limited', counted: [{}] });
      admission.endCall(ended('a', { tokens: 40 }));
      admission.endCall(ended('a', { tokens: 40 }));
      admission.endCall(ended('b', { tokens: 40 }));
      expect(await admit('c', 90)).toMatchObject({ outcome: 'passed', key: { tokens: 80 } });
      // Settled before it ended: it counts as well.
      await admission.updateHints({
        windows: [],
        accounts: [],
        settled: [{ id: 'c', userId: 'user' }],
      });
      admission.endCall(ended('c', { tokens: 20 }));
      const refused = await admit('d', 1);
      expect(refused).toMatchObject({ outcome: 'tokens_limited', nextFreeMs: expect.any(Number) });
      await passTime(70_000);
      expect(await admit('d', 1)).toMatchObject({ outcome: 'passed', key: { tokens: 0 } });
    }),
  );
}
