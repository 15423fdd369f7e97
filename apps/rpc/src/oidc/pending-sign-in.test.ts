import { manualClock } from '@model-gateway/kernel';
import { createPendingSignIns, PENDING_SECS_MAX } from './pending-sign-in.ts';

const pending = { state: 's', nonce: 'n', codeVerifier: 'v', returnTo: '/console/keys' };
const clock = manualClock(1_000_000);
const signIns = createPendingSignIns({ secret: 'a'.repeat(32), clock });

test('another process with the same secret can open it, and the text does not show the secrets', () => {
  const sealed = signIns.seal(pending);
  expect(createPendingSignIns({ secret: 'a'.repeat(32), clock }).open(sealed)).toEqual(pending);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('/console/keys');
});

test('it expires', () => {
  const sealed = signIns.seal(pending);
  clock.advance(PENDING_SECS_MAX * 1000);
  expect(signIns.open(sealed)).toEqual(pending);
  clock.advance(1);
  expect(signIns.open(sealed)).toBeUndefined();
});

test.each([
  { why: 'is empty', change: () => '' },
  { why: 'is too short', change: (text: string) => text.slice(0, 10) },
  { why: 'is cut', change: (text: string) => text.slice(0, -4) },
  { why: 'was changed', change: (text: string) => `${text.slice(0, -6)}AAAA${text.slice(-2)}` },
  {
    why: 'was sealed with another secret',
    change: () => createPendingSignIns({ secret: 'b'.repeat(32), clock }).seal(pending),
  },
])('a text that $why does not open', ({ change }) => {
  expect(signIns.open(change(signIns.seal(pending)))).toBeUndefined();
});
