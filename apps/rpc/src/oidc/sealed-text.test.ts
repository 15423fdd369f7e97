import { manualClock } from '@model-gateway/kernel';
import { z } from 'zod';
import { createSealedText } from './sealed-text.ts';

const TTL_SECS = 600;
const state = { nonce: 'n', returnTo: '/console/keys' };
const clock = manualClock(1_000_000);
const options = {
  secret: 'a'.repeat(32),
  purpose: 'sign-ins',
  schema: z.object({ nonce: z.string(), returnTo: z.string() }),
  ttlSecs: TTL_SECS,
  clock,
};
const texts = createSealedText(options);

test('another process with the same secret can open it, and the text does not show the secrets', () => {
  const sealed = texts.seal(state);
  expect(createSealedText(options).open(sealed)).toEqual(state);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('/console/keys');
});

test('it expires', () => {
  const sealed = texts.seal(state);
  clock.advance(TTL_SECS * 1000);
  expect(texts.open(sealed)).toEqual(state);
  clock.advance(1);
  expect(texts.open(sealed)).toBeUndefined();
});

test.each([
  { why: 'is empty', change: () => '' },
  { why: 'is too short', change: (text: string) => text.slice(0, 10) },
  { why: 'is cut', change: (text: string) => text.slice(0, -4) },
  { why: 'was changed', change: (text: string) => `${text.slice(0, -6)}AAAA${text.slice(-2)}` },
  {
    why: 'was sealed with another secret',
    change: () => createSealedText({ ...options, secret: 'b'.repeat(32) }).seal(state),
  },
  {
    why: 'was sealed for another purpose',
    change: () => createSealedText({ ...options, purpose: 'links' }).seal(state),
  },
])('a text that $why does not open', ({ change }) => {
  expect(texts.open(change(texts.seal(state)))).toBeUndefined();
});
