import type { AdmissionAnswer, KeyLimits, ReservedAmounts } from '@model-gateway/billing';
import { ACCOUNT, callOf, end, KEY, NONE, request, type On } from './admission-subject.ts';

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
    end(id, { keyId: 'key', usage: { ...NONE, ...usage } });

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
    'a call that is admitted again does not count against itself in the limits of its key',
    on(async ({ admission }) => {
      await admission.updateHints(spent(0));
      const ids = Array.from({ length: 10 }, (_, index) => `call ${index}`);
      const small = { costUsd: 0.01, tokens: 1 };
      const large = { costUsd: 0.5, tokens: 50 };
      const all = (amounts: Partial<ReservedAmounts>, limits: Partial<KeyLimits>) =>
        Promise.all(ids.map((id) => admission.admit(limited(id, amounts, limits))));
      const begun = (answers: readonly AdmissionAnswer[]) =>
        answers.filter((answer) => 'hasBegun' in answer && answer.hasBegun).length;
      expect(begun(await all(small, {}))).toBe(10);
      const again = await all(large, {});
      expect(again[0]).toMatchObject({ hasBegun: true, key: { reservedUsd: 0.09 } });
      expect(begun(again)).toBe(2);
      const ofTokens = { budgetUsd: null, tokensPerMinute: 100, id: 'tokens' };
      const others = (id: string) => `other ${id}`;
      const ask = (amounts: Partial<ReservedAmounts>) =>
        Promise.all(ids.map((id) => admission.admit(limited(others(id), amounts, ofTokens))));
      expect(begun(await ask(small))).toBe(10);
      expect(begun(await ask(large))).toBe(2);
    }),
  );

  test(
    'tokens of a key count while they are in flight, and for a minute after they were used',
    on(async ({ admission, passTime }) => {
      const limits = { budgetUsd: null, tokensPerMinute: 100 };
      const admit = (id: string, tokens: number) =>
        admission.admit({ ...limited(id, { tokens }, limits), limits: [KEY] });
      expect(await admit('a', 90)).toMatchObject({ outcome: 'admitted', key: { tokens: 0 } });
      expect(await admit('b', 90)).toMatchObject({ outcome: 'admitted', key: { tokens: 90 } });
      expect(await admit('c', 1)).toMatchObject({ outcome: 'tokens_limited', counted: [{}] });
      admission.endCall(ended('a', { tokens: 40 }));
      admission.endCall(ended('a', { tokens: 40 }));
      admission.endCall(ended('b', { tokens: 40 }));
      expect(await admit('c', 90)).toMatchObject({ outcome: 'admitted', key: { tokens: 80 } });
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
      expect(await admit('d', 1)).toMatchObject({ outcome: 'admitted', key: { tokens: 0 } });
    }),
  );
}
