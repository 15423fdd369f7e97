import type { AdmissionAnswer, AdmissionRequest, CallEnd } from '@model-gateway/billing';
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
])('%j reserves the completion tokens that an upstream may generate: %i', (fields, expected) => {
  const request = { model: 'm', messages, ...fields };
  expect(expectedChat(request).completionTokens).toBe(expected);
});

describe('a call that is renewed', () => {
  function begin() {
    const admitted: AdmissionRequest[] = [];
    const ended: CallEnd[] = [];
    const running = new Set<Renewable>();
    let answer: (answered: AdmissionAnswer) => void = () => undefined;
    const reservation = createReservation(
      { id: 'call', userId: 'user', callsMax: 5 },
      {
        isUrgent: false,
        pointsOf: () => 0,
        renewals: { add: (call) => running.add(call), remove: (call) => running.delete(call) },
        store: {
          admit(request) {
            admitted.push(request);
            return new Promise((resolve) => {
              answer = resolve;
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
    return { reservation, admitted, ended, running, answered };
  }

  test('is asked for with its id, without its reservation, until it has ended', async () => {
    const { reservation, admitted, ended, running, answered } = begin();
    for (const call of running) call.renew();
    await answered();
    expect(admitted).toMatchObject([
      { limits: [], call: { id: 'call', userId: 'user', callsMax: 5 } },
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
      { id: 'call', userId: 'user', endsCall: true, isUrgent: true },
    ]);
  });
});
