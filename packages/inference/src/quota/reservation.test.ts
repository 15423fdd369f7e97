import type { AdmissionAnswer, AdmissionRequest, ReservationEnd } from '@model-gateway/billing';
import type { Renewable } from './renewals.ts';
import { createReservation, expectedChat } from './reservation.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

test.each([
  [{}, 256],
  [{ max_tokens: 10 }, 10],
  [{ max_completion_tokens: 9_000 }, 9_000],
  [{ max_tokens: 1, max_completion_tokens: 9_000 }, 9_000],
  [{ max_tokens: 9_000, max_completion_tokens: 1 }, 9_000],
  [{ extra: { max_completion_tokens: 9_000 } }, 9_000],
  [{ max_tokens: null, max_completion_tokens: -1, extra: 7 }, 256],
  [{ n: 4 }, 1_024],
  [{ n: 3, max_tokens: 10 }, 30],
  [{ n: 1, max_tokens: 10, extra: { n: 5 } }, 50],
  [{ n: null, max_tokens: 10, extra: { n: -2 } }, 10],
])('%j reserves the completion tokens that an upstream may generate: %i', (fields, expected) => {
  const request = { model: 'm', messages, ...fields };
  expect(expectedChat(request).completionTokens).toBe(expected);
});

test.each([
  [true, {}, 2_001],
  [true, { memory: false }, 1],
  [false, {}, 1],
])('memory configured: %j, %j reserves %i tokens of the prompt', (isConfigured, fields, tokens) => {
  const request = { model: 'm', messages, ...fields };
  expect(expectedChat(request, { isConfigured }).promptTokens).toBe(tokens);
});

const RESERVATION = {
  tokens: 10,
  costUsd: 0.5,
  points: 3,
  tier: { monthlyUsdQuota: 1, monthlyTokenQuota: 100 },
  isPriced: true,
  account: { type: 'user', id: 'user' },
  key: { id: 'key', budgetUsd: 1, tokensPerMinute: 100 },
} as const;

describe('a call that is renewed', () => {
  function begin() {
    const admitted: AdmissionRequest[] = [];
    const ended: ReservationEnd[] = [];
    const running = new Set<Renewable>();
    let answer: (answered: AdmissionAnswer) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const reservation = createReservation(
      { id: 'call', userId: 'user', callsMax: 5, reservation: RESERVATION },
      {
        pointsOf: () => 0,
        renewals: {
          add(call) {
            running.add(call);
            return { call };
          },
          remove: ({ call }) => call && running.delete(call),
        },
        store: {
          admit(request) {
            admitted.push(request);
            return new Promise((resolve, reject) => {
              [answer, fail] = [resolve, reject];
            });
          },
          endCall: (end) => ended.push(end),
        },
      },
    );
    const answered = async () => {
      answer({ outcome: 'stale', epoch: 0 });
      await new Promise((resolve) => setImmediate(resolve));
    };
    const failed = async () => {
      fail(new Error('no answer'));
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { reservation, admitted, ended, running, answered, failed };
  }

  test('is asked for as a renewal, with what it reserves and nothing that could refuse it, until it has ended', async () => {
    const { reservation, admitted, ended, running, answered } = begin();
    for (const call of running) call.renew();
    await answered();
    expect(admitted).toMatchObject([
      {
        limits: [],
        renews: true,
        call: {
          id: 'call',
          userId: 'user',
          callsMax: 5,
          reservation: {
            ...RESERVATION,
            tier: { monthlyUsdQuota: null, monthlyTokenQuota: null },
            key: { id: 'key', budgetUsd: null, tokensPerMinute: null },
          },
        },
      },
    ]);
    expect(ended).toEqual([]);
    reservation.end();
    expect(running.size).toBe(0);
    expect(ended).toMatchObject([{ id: 'call', endsCall: true, endsReservation: true }]);
  });

  test('does not begin again when it ends meanwhile', async () => {
    const { reservation, ended, running, answered } = begin();
    for (const call of running) call.renew();
    reservation.end();
    await answered();
    expect(ended).toMatchObject([
      { endsReservation: true },
      { id: 'call', userId: 'user', endsCall: true, endsReservation: true },
    ]);
  });

  test('leaves its job what it reserves when only the call ends meanwhile', async () => {
    const { reservation, ended, running, answered } = begin();
    for (const call of running) call.renew();
    reservation.endCall();
    await answered();
    expect(ended).toMatchObject([
      { endsCall: true, endsReservation: false },
      { endsCall: true, endsReservation: false },
    ]);
  });

  test('goes on when that fails, and ends again if it ended meanwhile', async () => {
    const { reservation, ended, running, failed } = begin();
    for (const call of running) call.renew();
    await failed();
    expect(ended).toEqual([]);
    for (const call of running) call.renew();
    reservation.end();
    await failed();
    expect(ended).toMatchObject([{ endsReservation: true }, { endsReservation: true }]);
  });
});
