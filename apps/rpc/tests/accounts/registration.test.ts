import { silentLog, type Log } from '@model-gateway/kernel';
import type { RpcAnswer } from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

const REQUIRED = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };
const TAKEN = { code: -32_000, message: 'email already registered' };

/** Registers the taken email, so that a registration that is not refused by a limit has another refusal. */
async function register(
  url: string,
  { email = 'taken@example.com', headers = {} }: RegisterOptions = {},
): Promise<RpcAnswer> {
  const response = await fetch(`${url}/api/rpc`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'auth.register',
      params: { email, password: 'long enough' },
    }),
  });
  return (await response.json()) as RpcAnswer;
}
interface RegisterOptions {
  readonly email?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

const tooMany = (countMax: number, unit: string) => ({
  code: -32_000,
  message: `too many registrations from this address: at most ${countMax} per ${unit}`,
  data: { retry_after_secs: expect.any(Number) },
});

describe('registrations', () => {
  let rpc: RpcServer;
  beforeAll(async () => {
    rpc = await startRpc({ SERVICE_REGISTRATIONS_PER_MINUTE: '1' });
    await rpc.createAccount('taken@example.com');
  });
  afterAll(() => rpc.test.close());

  test('are limited per address, behind a trusted proxy', async () => {
    expect((await register(rpc.url, from('192.0.2.1'))).error).toEqual(TAKEN);
    const { error } = await register(rpc.url, from('192.0.2.1'));
    expect(error).toEqual(tooMany(1, 'minute'));
    const secs: unknown = Reflect.get(Object(error?.data), 'retry_after_secs');
    expect(secs).toBeGreaterThan(0);
    expect(secs).toBeLessThanOrEqual(60);
    const other = { ...from('192.0.2.2'), email: 'other@example.com' };
    expect((await register(rpc.url, other)).result).toMatchObject({ token_type: 'Bearer' });
  });

  test('from this machine are limited only when they came through a proxy', async () => {
    for (let count = 0; count < 2; count += 1)
      expect((await register(rpc.url)).error).toEqual(TAKEN);
    expect((await register(rpc.url, from('127.0.0.1'))).error).toEqual(TAKEN);
    expect((await register(rpc.url, from('127.0.0.1'))).error).toEqual(tooMany(1, 'minute'));
  });

  test('are limited per hour', async () => {
    const config = readRpcConfig({ ...REQUIRED, SERVICE_REGISTRATIONS_PER_HOUR: '1' });
    const url = await rpc.test.serve(createRpc(config, rpc.test.context));
    expect((await register(url, from('192.0.2.3'))).error).toEqual(TAKEN);
    expect((await register(url, from('192.0.2.3'))).error).toEqual(tooMany(1, 'hour'));
  });
});

describe('with SERVICE_FIRST_ADMIN=anyone', () => {
  let rpc: RpcServer;
  beforeAll(async () => {
    rpc = await startRpc();
  });
  afterAll(() => rpc.test.close());

  test('the first account, which becomes the admin, is in the audit log, and no other', async () => {
    const { result } = await register(rpc.url, { email: 'first@example.com' });
    await register(rpc.url, { email: 'second@example.com' });
    const { id } = (result as { readonly user: { readonly id: string } }).user;
    const { result: log } = await rpc.call('audit.list', {}, ADMIN_TOKEN);
    expect((log as { readonly entries: unknown }).entries).toEqual([
      expect.objectContaining({
        actor: 'user',
        actor_id: id,
        action: 'auth.register',
        target: `user:${id}`,
        before: null,
        after: expect.objectContaining({ is_admin: true }),
      }),
    ]);
  });
});

describe('with SERVICE_FIRST_ADMIN=token', () => {
  let rpc: RpcServer;
  beforeAll(async () => {
    rpc = await startRpc({ SERVICE_FIRST_ADMIN: 'token' });
  });
  afterAll(() => rpc.test.close());

  const isAdmin = async (email: string, bearer?: string): Promise<unknown> => {
    const headers: Record<string, string> =
      bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const { result } = await register(rpc.url, { email, headers });
    return (result as { user: { is_admin: boolean } }).user.is_admin;
  };

  test('the first account that presents the admin token becomes the admin, and no other', async () => {
    expect(await isAdmin('first@example.com')).toBe(false);
    expect(await isAdmin('second@example.com', 'not the admin token')).toBe(false);
    const concurrent = await Promise.all(
      ['third', 'fourth'].map((name) => isAdmin(`${name}@example.com`, ADMIN_TOKEN)),
    );
    expect(concurrent.filter((admin) => admin === true)).toHaveLength(1);
    expect(await isAdmin('fifth@example.com', ADMIN_TOKEN)).toBe(false);
  });
});

describe('a server without an account', () => {
  let rpc: RpcServer;
  beforeAll(async () => {
    rpc = await startRpc();
  });
  afterAll(() => rpc.test.close());

  async function warningsOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const warnings: string[] = [];
    const warn = (...[, text]: Parameters<Log['warn']>): void => void warnings.push(text);
    const log = { ...silentLog, warn };
    const config = readRpcConfig({ ...REQUIRED, ...env });
    const app = createRpc(config, { ...rpc.test.context, log });
    await app.start();
    await app.stop();
    return warnings;
  }

  test('says so when others can reach it and registration is open', async () => {
    const open = { SERVICE_HOST: '0.0.0.0' };
    expect(await warningsOf(open)).toEqual([
      expect.stringContaining('the first to register becomes the platform admin'),
    ]);
    expect(await warningsOf({ ...open, SERVICE_FIRST_ADMIN: 'token' })).toEqual([
      expect.stringContaining('with auth.register and the admin token as bearer'),
    ]);
    expect(await warningsOf({})).toEqual([]);
    expect(await warningsOf({ SERVICE_HOST: '::1' })).toEqual([]);
    expect(await warningsOf({ ...open, SERVICE_REGISTRATION_OPEN: 'false' })).toEqual([]);
    await rpc.createAccount('first@example.com');
    expect(await warningsOf(open)).toEqual([]);
  });
});
