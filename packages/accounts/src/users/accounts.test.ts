import { manualClock, silentLog, type Log } from '@model-gateway/kernel';
import { createAccessTokens } from './access-tokens.ts';
import { createAccounts } from './accounts.ts';
import type { LoginLimits } from '../login/login-limits.ts';
import { DUMMY_PASSWORD_HASH, type Passwords } from '../login/passwords.ts';
import type { RefreshTokenStore, Rotation } from './refresh-token-store.ts';
import type { SignInEnd } from './sign-in-ends.ts';
import type { User, UserStore } from './user-store.ts';

const user: User = { id: 'user-1', email: 'known@example.com', name: 'K', isAdmin: false };
const noLimits: LoginLimits = {
  attempt: (_who, check) => check(),
  attemptFrom: (_clientIp, check) => check(),
};

const unused = () => Promise.reject(new Error('no provider signs anyone in'));

interface Setup {
  readonly rotation?: Rotation;
  readonly log?: Log;
}

function setup({ rotation = { outcome: 'unknown' }, log = silentLog }: Setup = {}) {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const ends: SignInEnd[] = [];
  const steps: string[] = [];
  const checked: { readonly hash: string; readonly password: string }[] = [];
  const passwords: Passwords = {
    hash: async (password) => `hash of ${password}`,
    async verify(hash, password) {
      checked.push({ hash, password });
      return hash === `hash of ${password}`;
    },
  };
  const users: UserStore = {
    create: () => Promise.reject(new Error('not asked for')),
    findById: async (id) => (id === user.id ? user : undefined),
    findBySignIn: async ({ userId }) => (userId === user.id ? user : undefined),
    holdSignIn: async () => user,
    isEmpty: async () => false,
    findOldestAdmin: async () => undefined,
    findByEmail: async (email) =>
      email === user.email ? { user, passwordHash: 'hash of the right one' } : undefined,
  };
  const refreshTokens: RefreshTokenStore = {
    save: async () => true,
    rotate: async () => rotation,
    revokeFamily: async () => void steps.push('family revoked'),
    revokeUser: async () => {
      steps.push('user revoked');
      return ['family-1', 'family-2'];
    },
    removeExpired: async () => undefined,
  };
  const accounts = createAccounts({
    users,
    refreshTokens,
    passwords,
    loginLimits: noLimits,
    registrationLimits: { admit: async () => undefined },
    knownAddresses: { remember: async () => undefined },
    database: {
      users,
      identities: {
        findByPerson: unused,
        findByEmail: unused,
        bind: unused,
        takeOver: unused,
        giveRole: unused,
        takeRole: unused,
      },
      audit: { append: unused },
      auditedTransaction: unused,
    },
    events: { changed: async () => undefined },
    signInEnds: {
      announce: async (end) => {
        steps.push('announced');
        ends.push(end);
      },
      hasEnded: () => false,
    },
    firstAdmin: 'anyone',
    accessTokens: createAccessTokens({ secret: 's'.repeat(32), expiresInSecs: 900, clock }),
    clock,
    log,
    registrationOpen: true,
    refreshTokenTtlSecs: 60,
    successorSecret: 's'.repeat(32),
  });
  const login = (email: string, password: string) =>
    accounts.login({ email, password, clientIp: '192.0.2.1' });
  return { accounts, login, checked, ends, steps };
}

const refused = { code: 'invalid_credentials', message: 'invalid email or password' };

test('the right password opens a session', async () => {
  const { login } = setup();
  expect(await login('known@example.com', 'the right one')).toMatchObject({
    user,
    expiresInSecs: 900,
  });
});

test.each([
  { why: 'a wrong password', email: 'known@example.com', hash: 'hash of the right one' },
  { why: 'an unknown email', email: 'unknown@example.com', hash: DUMMY_PASSWORD_HASH },
  { why: 'an email that cannot exist', email: 'a\u0000b', hash: DUMMY_PASSWORD_HASH },
  { why: 'an empty email', email: '', hash: DUMMY_PASSWORD_HASH },
])(
  '$why is refused in the same words after exactly one password check',
  async ({ email, hash }) => {
    const { login, checked } = setup();
    await expect(login(email, 'a wrong one')).rejects.toMatchObject(refused);
    expect(checked).toEqual([{ hash, password: 'a wrong one' }]);
  },
);

test('an unknown email is refused even if the stand-in hash should match', async () => {
  const { login, checked } = setup();
  await expect(login('unknown@example.com', DUMMY_PASSWORD_HASH)).rejects.toMatchObject(refused);
  expect(checked).toHaveLength(1);
});

test.each<{ why: string; rotation: Rotation }>([
  { why: 'an unknown token', rotation: { outcome: 'unknown' } },
  { why: 'an expired token', rotation: { outcome: 'expired' } },
  {
    why: 'a token that was used before',
    rotation: { outcome: 'reused', userId: user.id, familyId: 'family-1' },
  },
  {
    why: 'a token of a deleted account',
    rotation: { outcome: 'rotated', userId: 'gone', familyId: 'family-1' },
  },
])('$why refreshes nothing', async ({ rotation }) => {
  const { accounts } = setup({ rotation });
  await expect(accounts.refresh('token')).rejects.toMatchObject({
    code: 'invalid_credentials',
    message: 'invalid refresh token',
  });
});

test('a token that is traded gives a new one', async () => {
  const { accounts } = setup({
    rotation: { outcome: 'rotated', userId: user.id, familyId: 'family-1' },
  });
  const { refreshToken, ...rest } = await accounts.refresh('token');
  expect(rest).toMatchObject({ user, expiresInSecs: 900 });
  expect(refreshToken).toMatch(/^[\w-]{43}$/);
});

test('reuse ends the sign-in in every process, and a refused token of another kind ends nothing', async () => {
  const reused = setup({ rotation: { outcome: 'reused', userId: user.id, familyId: 'family-1' } });
  await expect(reused.accounts.refresh('token')).rejects.toThrow('invalid refresh token');
  expect(reused.ends).toEqual([{ kind: 'sign-in-ended', familyId: 'family-1' }]);
  const expired = setup({ rotation: { outcome: 'expired' } });
  await expect(expired.accounts.refresh('token')).rejects.toThrow('invalid refresh token');
  expect(expired.ends).toEqual([]);
});

test('a sign-out is stored before it is announced, and ends one sign-in', async () => {
  const { accounts, ends, steps } = setup();
  await accounts.logout({ userId: user.id, familyId: 'family-1' });
  expect(steps).toEqual(['family revoked', 'announced']);
  expect(ends).toEqual([{ kind: 'sign-in-ended', familyId: 'family-1' }]);
});

test('a sign-out with a token that does not name its sign-in ends all of them', async () => {
  const { accounts, ends } = setup();
  await accounts.logout({ userId: user.id, familyId: undefined });
  expect(ends).toEqual([
    { kind: 'sign-in-ended', familyId: 'family-1' },
    { kind: 'sign-in-ended', familyId: 'family-2' },
  ]);
});

test('reuse is logged without the token', async () => {
  const warnings: unknown[] = [];
  const { accounts } = setup({
    rotation: { outcome: 'reused', userId: user.id, familyId: 'family-1' },
    log: { ...silentLog, warn: (...warning) => void warnings.push(warning) },
  });
  await expect(accounts.refresh('the token itself')).rejects.toThrow('invalid refresh token');
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings)).not.toContain('the token itself');
});
