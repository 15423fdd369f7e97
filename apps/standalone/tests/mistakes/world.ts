import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { preparedDataDir, rpcCall, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream } from '@model-gateway/testkit/upstreams';
import { startStandalone } from '../standalone.ts';
import { makeMistake, runCommand, sendLikeCurl, type Place } from './make-mistake.ts';
import type { KeyName, Mistake } from './mistake.ts';

const PASSWORD = 'a long password';
const EMAILS = { admin: 'admin@example.com', member: 'member@example.com' };
/** Nothing listens there. */
const DEAD_URL = 'http://127.0.0.1:9';

export interface World {
  make(mistake: Mistake): ReturnType<typeof makeMistake>;
  close(): Promise<void>;
}

/** An installation with backends of every kind of trouble, and keys of every kind. */
export async function openWorld(): Promise<World> {
  const folder = await preparedDataDir();
  const upstreams = {
    mock: await startChatUpstream({ models: ['mock'] }),
    broken: await startChatUpstream({ models: ['broken@status:500'] }),
    busy: await startChatUpstream({ models: ['busy@status:429'] }),
    unpaid: await startChatUpstream({ models: ['unpaid'], apiKey: 'sk-the-right-key' }),
  };
  const service = await startStandalone(folder.path, { SERVICE_MAX_BODY_BYTES: '100000' });
  const admin = await openAdmin(service.url, folder.path);
  await admin.call('billing.tiers.set', { name: 'empty', monthly_token_quota: 0 });
  const token = await admin.register(EMAILS.admin, 'enterprise');
  const memberToken = await admin.register(EMAILS.member, 'empty');
  for (const [name, { url }] of Object.entries(upstreams)) await admin.addBackend(name, url);
  await admin.addBackend('gone', DEAD_URL);

  const keys = await createKeys(service.url, { token, memberToken, adminToken: admin.token });
  const place: Place = { url: service.url, keys, dataDir: folder.path };
  const isExpired = async () => (await sendLikeCurl({ key: 'expired' }, place)).status === 401;
  await waitUntil(isExpired, { what: 'the key to expire' });
  for (const as of ['admin', 'member'] as const) {
    const command = ['login', '--email', EMAILS[as], '--password-stdin'];
    await runCommand({ command, as, stdin: PASSWORD }, place);
  }
  return {
    make: (mistake) => makeMistake(mistake, place),
    async close() {
      await service.stop();
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
      await folder.remove();
    },
  };
}

/** What the admin of an installation does. */
async function openAdmin(url: string, dataDir: string) {
  const token = (await readFile(join(dataDir, 'secrets', 'admin-token'), 'utf8')).trim();
  return {
    token,
    call: (method: string, params: object) => call(url, method, params, token),
    /** Returns the access token of a new account. */
    async register(email: string, tier: string): Promise<string> {
      const account = { email, password: PASSWORD };
      const { access_token } = await call<{ access_token: string }>(url, 'auth.register', account);
      await call(url, 'billing.plan.set', { user_email: email, tier }, token);
      return access_token;
    },
    async addBackend(name: string, address: string): Promise<void> {
      const backend = { type: 'external', name, url: address, models: [name], api_key: 'sk-wrong' };
      const response = await fetch(`${url}/api/admin/backends`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(backend),
      });
      if (response.status !== 200) throw new Error(await response.text());
    },
  };
}

interface Tokens {
  readonly token: string;
  readonly memberToken: string;
  readonly adminToken: string;
}

async function createKeys(
  url: string,
  { token, memberToken, adminToken }: Tokens,
): Promise<Readonly<Record<KeyName, string>>> {
  const create = (name: string, settings: object = {}, owner = token) =>
    call<{ id: string; key: string }>(url, 'keys.create', { name, ...settings }, owner);
  const revoked = await create('revoked');
  await call(url, 'keys.revoke', { key_id: revoked.id }, token);
  const expires_at = new Date(Date.now() + 1_000).toISOString();
  return {
    good: (await create('good')).key,
    none: '',
    wrong: 'service-00000000-0000-4000-8000-000000000000',
    revoked: revoked.key,
    expired: (await create('expired', { expires_at })).key,
    'other models': (await create('other models', { models: ['gpt-*'] })).key,
    'other addresses': (await create('other addresses', { addresses: ['10.1.2.0/24'] })).key,
    'one a minute': (await create('one a minute', { rpm: 1 })).key,
    'no budget': (await create('no budget', { budget_usd: 0 })).key,
    'no quota': (await create('no quota', {}, memberToken)).key,
    'access token': token,
    'admin token': adminToken,
  };
}

async function call<Answer = unknown>(
  url: string,
  method: string,
  params: object,
  token?: string,
): Promise<Answer> {
  const { result, error } = await rpcCall(url, method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Answer;
}
