import { manualClock } from '@model-gateway/kernel';
import {
  fullSize,
  fullTable,
  rpcCall,
  type RpcAnswer,
  watchForSecrets,
} from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { startRpc, type RpcServer } from '../rpc-server.ts';

watchForSecrets();

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly is_admin: boolean };
}

const REFUSED = { code: -32_005, message: 'invalid refresh token' };

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc();
});
afterAll(() => rpc.test.close());

const signedIn = ({ result }: RpcAnswer): SignedIn => result as SignedIn;
/** Signs in to a new account, whose password takes little time to check. */
async function signIn(email: string): Promise<SignedIn> {
  await rpc.createAccount(email);
  return signedIn(await rpc.call('auth.login', { email, password: 'long enough' }));
}
const refresh = (refresh_token: string): Promise<RpcAnswer> =>
  rpc.call('auth.refresh', { refresh_token });

test('of concurrent registrations exactly one becomes the admin', async () => {
  const answers = await Promise.all(
    Array.from({ length: fullSize(50, { small: 4 }) }, (_, index) =>
      rpc.call('auth.register', { email: `${index}@example.com`, password: 'long enough' }),
    ),
  );
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  const admins = answers.map(signedIn).filter(({ user }) => user.is_admin);
  expect(admins).toHaveLength(1);
});

test('signing in returns the same as registering, and the token identifies the user', async () => {
  await rpc.call('auth.register', {
    email: 'person@example.com',
    password: 'a good password',
    name: 'Person',
  });
  const login = await rpc.call('auth.login', {
    email: ' Person@Example.com ',
    password: 'a good password',
  });
  const user = { id: expect.any(String), email: 'person@example.com', name: 'Person' };
  expect(login.result).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 900,
    user: { ...user, is_admin: false },
  });
  const me = await rpc.call('auth.me', {}, signedIn(login).access_token);
  expect(me.result).toEqual({ ...user, is_admin: false });
});

describe('wrong logins', () => {
  beforeAll(() => rpc.createAccount('refused@example.com'));

  // For an email without an account a password is checked at full cost.
  const wrong = [
    { why: 'a wrong password', email: 'refused@example.com', password: 'another password' },
    { why: 'a very long password', email: 'refused@example.com', password: 'x'.repeat(500_000) },
    { why: 'an empty password', email: 'refused@example.com', password: '' },
    { why: 'an unknown email', email: 'unknown@example.com', password: 'long enough' },
    { why: 'an email that the database cannot store', email: 'a\u0000@b.co', password: 'x' },
    { why: 'a very long email', email: 'a'.repeat(100_000), password: 'x' },
    { why: 'no email at all', email: '', password: 'long enough' },
  ];
  test.each(fullTable(wrong, { small: 5 }))(
    '$why gets the same error as any other wrong login',
    async ({ email, password }) => {
      const { error } = await rpc.call('auth.login', { email, password });
      expect(error).toEqual({ code: -32_005, message: 'invalid email or password' });
    },
  );
});

test('a refresh token can be exchanged for a new pair once', async () => {
  const first = await signIn('rotate@example.com');
  const second = await refresh(first.refresh_token);
  expect(second.result).toMatchObject({ token_type: 'Bearer', user: { id: first.user.id } });
  const { access_token, refresh_token } = signedIn(second);
  expect(refresh_token).not.toBe(first.refresh_token);
  const me = await rpc.call('auth.me', {}, access_token);
  expect(me.result).toMatchObject({ id: first.user.id });
  expect((await refresh(refresh_token)).error).toBeUndefined();
});

test('reusing a refresh token ends its whole family, and no other session', async () => {
  const first = await signIn('reuse@example.com');
  const other = signedIn(
    await rpc.call('auth.login', { email: 'reuse@example.com', password: 'long enough' }),
  );
  const second = signedIn(await refresh(first.refresh_token));
  expect((await refresh(first.refresh_token)).error).toEqual(REFUSED);
  expect((await refresh(second.refresh_token)).error).toEqual(REFUSED);
  expect((await refresh(other.refresh_token)).error).toBeUndefined();
});

test('of concurrent uses of one token exactly one succeeds, and the others end the family', async () => {
  const { refresh_token: refreshToken } = await signIn('double@example.com');
  const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refreshToken)));
  const winners = answers.filter(({ error }) => error === undefined);
  expect(winners).toHaveLength(1);
  const refusals = answers.flatMap(({ error }) => (error === undefined ? [] : [error]));
  expect(refusals).toEqual(Array.from({ length: 7 }, () => REFUSED));
  const [winner] = winners.map(signedIn);
  expect((await refresh(winner?.refresh_token ?? '')).error).toEqual(REFUSED);
});

test.each(['', 'x', 'x'.repeat(257), 'x'.repeat(100_000), '\u0000'])(
  'a text that is no refresh token is refused like one, of whatever length',
  async (text) => {
    expect((await refresh(text)).error).toEqual(REFUSED);
  },
);

test('an expired refresh token is refused, as is an unknown one', async () => {
  const clock = manualClock(Date.now());
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_REFRESH_TOKEN_TTL_SECS: '60',
  });
  const url = await rpc.test.serve(createRpc(config, { ...rpc.test.context, clock }));
  const params = { email: 'expires@example.com', password: 'long enough' };
  await rpc.createAccount(params.email);
  const { refresh_token } = signedIn(await rpcCall(url, 'auth.login', params));
  clock.advance(60_000);
  expect((await rpcCall(url, 'auth.refresh', { refresh_token })).error).toEqual(REFUSED);
  expect((await refresh('unknown')).error).toEqual(REFUSED);
});

test('auth.me needs a token', async () => {
  expect((await rpc.call('auth.me')).error).toMatchObject({ code: -32_005 });
});
