import { manualClock } from '@model-gateway/kernel';
import jwt from 'jsonwebtoken';
import { createAccessTokens } from './access-tokens.ts';

const SECRET = 'a secret that is at least thirty-two bytes long';
const NOW = Date.UTC(2026, 0, 1);
const nowSecs = NOW / 1000;
const USER = 'b8f3c1de-0000-4000-8000-0000000000a1';

function tokens() {
  const clock = manualClock(NOW);
  return { clock, tokens: createAccessTokens({ secret: SECRET, expiresInSecs: 900, clock }) };
}

test('a token speaks for its user until it expires', () => {
  const { clock, tokens: access } = tokens();
  const token = access.sign(USER);
  clock.advance(899_000);
  expect(access.verify(token)).toEqual({ userId: USER, familyId: undefined });
  clock.advance(1_000);
  expect(access.verify(token)).toBeUndefined();
});

test('a token names the sign-in that it came from', () => {
  const familyId = 'b8f3c1de-0000-4000-8000-0000000000f1';
  const { tokens: access } = tokens();
  expect(access.verify(access.sign(USER, familyId))).toEqual({ userId: USER, familyId });
});

const claims = { sub: USER, iat: nowSecs, exp: nowSecs + 900, typ: 'access' };

test.each([
  {
    why: 'signed with another secret',
    token: jwt.sign(claims, 'another secret of at least 32 bytes'),
  },
  { why: 'signed with another algorithm', token: jwt.sign(claims, SECRET, { algorithm: 'HS512' }) },
  { why: 'not signed at all', token: jwt.sign(claims, '', { algorithm: 'none' }) },
  { why: 'of another type', token: jwt.sign({ ...claims, typ: 'refresh' }, SECRET) },
  { why: 'without an expiry', token: jwt.sign({ sub: USER, typ: 'access' }, SECRET) },
  { why: 'of nobody who can be a user', token: jwt.sign({ ...claims, sub: 'abc' }, SECRET) },
  { why: 'of nobody', token: jwt.sign({ ...claims, sub: undefined }, SECRET) },
  { why: 'of a sign-in that cannot exist', token: jwt.sign({ ...claims, sid: 'abc' }, SECRET) },
  { why: 'tampered with', token: `${jwt.sign(claims, SECRET).slice(0, -3)}abc` },
  { why: 'not a token', token: 'hello' },
])('a token $why is refused', ({ token }) => {
  expect(tokens().tokens.verify(token)).toBeUndefined();
});

test('a proper token made elsewhere with our secret is accepted, so that the refusals above mean something', () => {
  expect(tokens().tokens.verify(jwt.sign(claims, SECRET))).toEqual({ userId: USER });
});
