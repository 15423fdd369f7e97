import {
  ACCOUNT,
  CALL_KEPT_MS,
  callOf,
  end,
  NONE,
  request,
  reserving,
  WINDOW,
  type Amounts,
  type On,
} from './admission-subject.ts';

/** What calls in flight reserve, and what they have used. */
export function describeReservations(on: On): void {
  const used = (tokens: number, costUsd = 0, version = 1) => ({
    windows: [{ ...WINDOW, tokens, costUsd, version }],
    accounts: [{ ...ACCOUNT, balance: 0, hasHistory: false, increases: 0, version: 1 }],
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
          expect(answer.outcome === 'admitted' && answer.reserved.tokens).toBeGreaterThan(1e12);
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
    'reservations of USD bind like those of tokens',
    on(async ({ admission }) => {
      await admission.updateHints(used(0, 0.7));
      const costs = (id: string) => admission.admit(reserving(id, { costUsd: 0.1 }));
      expect(await costs('a')).toMatchObject({ hasBegun: true });
      expect(await costs('b')).toMatchObject({ hasBegun: true, reserved: { costUsd: 0.1 } });
      expect(await costs('c')).toMatchObject({ hasBegun: true, reserved: { costUsd: 0.2 } });
      expect(await costs('d')).toMatchObject({ hasBegun: false });
    }),
  );

  const pool = { type: 'group', id: 'pool' } as const;
  const pooled = (balance: number, increases = 0, version = 1) => ({
    windows: [],
    accounts: [{ ...pool, balance, hasHistory: true, increases, version }],
  });
  const draws = (id: string, values: Amounts = {}) => reserving(id, { points: 2, ...values }, pool);

  test(
    'on a drained tier points pay for what the balance covers beside what others reserve of it',
    on(async ({ admission }) => {
      await admission.updateHints(used(100));
      await admission.updateHints(pooled(5));
      expect(await admission.admit(draws('a', { points: 6 }))).toMatchObject({ hasBegun: false });
      expect(await admission.admit(draws('b'))).toMatchObject({ hasBegun: true });
      expect(await admission.admit(draws('c'))).toMatchObject({
        hasBegun: true,
        reserved: { points: 2 },
      });
      expect(await admission.admit(draws('d'))).toMatchObject({
        hasBegun: false,
        reserved: { points: 4 },
      });
      expect(await admission.admit(draws('e', { points: 1 }))).toMatchObject({ hasBegun: true });
      // What may cost nothing needs a point all the same.
      expect(await admission.admit(draws('f', { points: 0 }))).toMatchObject({ hasBegun: false });
      admission.endCall(end('b'));
      expect(await admission.admit(draws('g', { isPriced: false }))).toMatchObject({
        hasBegun: false,
      });
      expect(await admission.admit(draws('h'))).toMatchObject({ hasBegun: true });
    }),
  );

  test(
    'an account pays for nothing of a member whom it refused, until it grows; it pays for others',
    on(async ({ admission }) => {
      const [month] = used(100).windows;
      if (month === undefined) throw new Error('no window');
      const other = { type: 'group', id: 'other' } as const;
      await admission.updateHints({
        windows: [
          { ...month, refusals: [other, pool].map((account) => ({ account, increases: 3 })) },
          { ...month, userId: 'member' },
        ],
        accounts: [
          ...pooled(90, 3).accounts,
          { ...ACCOUNT, balance: 5, hasHistory: true, increases: 3, version: 1 },
        ],
      });
      const refused = await admission.admit(draws('a'));
      expect(refused).toMatchObject({ hasBegun: false, window: { refusals: [{}, {}] } });
      const { call } = draws('b');
      const ofMember = { ...draws('b'), window: { ...WINDOW, userId: 'member' } };
      const asMember = { ...ofMember, call: call && { ...call, userId: 'member' } };
      expect(await admission.admit(asMember)).toMatchObject({ hasBegun: true });
      // The wallet of the same user.
      expect(await admission.admit(reserving('c', { points: 2 }))).toMatchObject({
        hasBegun: true,
      });
      await admission.updateHints(pooled(50, 3, 2));
      expect(await admission.admit(draws('d'))).toMatchObject({ hasBegun: false });
      await admission.updateHints(pooled(51, 4, 3));
      expect(await admission.admit(draws('e'))).toMatchObject({ hasBegun: true });
    }),
  );

  test(
    'a call that is admitted again is decided by all others alone, and reserves the larger amounts',
    on(async ({ admission, leftOver }) => {
      await admission.updateHints(used(0));
      await admission.updateHints(pooled(0));
      const ids = Array.from({ length: 10 }, (_, index) => `call ${index}`);
      const small = { tokens: 1, costUsd: 0.01, points: 1 };
      const large = { tokens: 50, costUsd: 0.1, points: 5 };
      const all = (amounts: Amounts) =>
        Promise.all(ids.map((id) => admission.admit(draws(id, amounts))));
      expect(await all(small)).toMatchObject(ids.map(() => ({ hasBegun: true })));
      const again = await all(large);
      const others = { tokens: 9, costUsd: 0.09, points: 9 };
      expect(again[0]).toMatchObject({ hasBegun: true, reserved: others });
      // 9 small ones and the quota of 100: the second is the last one that begins.
      expect(again.map((answer) => answer.outcome === 'admitted' && answer.hasBegun)).toEqual(
        ids.map((_id, index) => index < 2),
      );
      for (const id of ids.slice(2)) admission.endCall(end(id));
      expect(await admission.admit(draws('last', large))).toMatchObject({
        hasBegun: false,
        reserved: { tokens: 100, costUsd: 0.2, points: 10 },
      });
      // What it has used counts, also for a call of the same id.
      admission.endCall(end('call 0', { usage: { tokens: 60, costUsd: 0, points: 0 } }));
      expect(await admission.admit(draws('call 0', small))).toMatchObject({
        reserved: { tokens: 110, points: 5 },
      });
      admission.endCall(end('call 1'));
      const settled = [{ id: 'call 0', userId: 'user' }];
      await admission.updateHints({ ...used(60, 0, 2), settled });
      admission.endCall(end('call 0'));
      expect(await leftOver()).toEqual([]);
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
      expect(await admission.admit(request({ call: busy }))).toMatchObject({ outcome: 'admitted' });
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
        if (answer.outcome !== 'admitted') throw new Error('not admitted');
        if (index % 3 === 0) await new Promise(setImmediate);
        if (answer.hasBegun || index % 2 === 0) admission.endCall(end(id));
        if (index % 5 === 0) admission.endCall(end(id));
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
