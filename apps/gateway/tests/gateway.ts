import {
  createAccountChanges,
  createAccountEvents,
  createGroupRules,
  createKeys,
  createSignInEnds,
  createUserDirectory,
  type GroupRules,
  type Keys,
  type UserDirectory,
} from '@model-gateway/accounts';
import type { Database } from '@model-gateway/db';
import type { ServerApp } from '@model-gateway/http';
import type { Hook } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { createServiceRuntime } from '@model-gateway/service';
import { createTestContext, type TestContext } from '@model-gateway/testkit';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';

export const ADMIN_TOKEN = 'the admin token of the tests';

/** A gateway on real stores, with a user and a key. */
export interface GatewayUnderTest {
  readonly url: string;
  readonly key: string;
  readonly keyId: string;
  readonly userId: string;
  readonly app: ServerApp;
  readonly test: TestContext;
}

export async function startGateway(
  env: Readonly<Record<string, string>> = {},
  stores: Parameters<typeof createTestContext>[0] = {},
  { hooks = [] }: { readonly hooks?: readonly Hook[] } = {},
): Promise<GatewayUnderTest> {
  const test = await createTestContext(stores);
  const { database } = test.context;
  const user = await database.users.create({
    id: newId(),
    email: 'owner@example.com',
    name: 'Owner',
    passwordHash: 'not used',
  });
  await liftTier(database);
  const { key, secret } = await keysOf(test).create({ userId: user.id, name: 'test' });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_CORS_ORIGINS: 'https://app.example.com',
    SERVICE_MAX_BODY_BYTES: '10000',
    ...env,
  });
  const runtime = createServiceRuntime(config, test.context, { hooks });
  const app = createGateway(config, test.context, { runtime });
  const parts = {
    ...app,
    start: async () => {
      await runtime.start();
      await app.start();
    },
    stop: async () => {
      await app.stop();
      await runtime.stop();
    },
  };
  const url = await test.serve(parts, config);
  return { url, key: secret, keyId: key.id, userId: user.id, app, test };
}

/** Two gateways on one database and one Redis, as in two processes. */
export interface TwoGateways {
  readonly test: TestContext;
  readonly urls: readonly [string, string];
}

export async function startTwoGateways(upstream?: { readonly url: string }): Promise<TwoGateways> {
  const test = await createTestContext();
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  });
  const serve = async (): Promise<string> =>
    test.serve(createGateway(config, await test.openPeer()));
  const first = await serve();
  if (upstream !== undefined) {
    const backend = { type: 'external', name: 'upstream', url: upstream.url };
    const { status } = await registerBackend({ url: first }, backend);
    if (status !== 200) throw new Error(`the upstream was not registered: ${status}`);
  }
  return { test, urls: [first, await serve()] };
}

/** Removes the limits of the free tier, which other tests cover. */
export async function liftTier({ plans }: Pick<Database, 'plans'>): Promise<void> {
  await plans.saveTier('free', { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null });
}

/** Of responses that tests store without items. */
export const NO_ITEMS = {
  inputItems: 0,
  outputItems: 0,
  largestInputBytes: 0,
  largestOutputBytes: 0,
};

/** Registers a backend over the admin API. */
export function registerBackend(
  gateway: Pick<GatewayUnderTest, 'url'>,
  backend: Readonly<Record<string, unknown>>,
  token = ADMIN_TOKEN,
): Promise<Response> {
  return admin(gateway, 'POST', 'backends', backend, token);
}

/** Calls the admin API. */
export function admin(
  { url }: Pick<GatewayUnderTest, 'url'>,
  method: string,
  resource: string,
  body?: unknown,
  token = ADMIN_TOKEN,
): Promise<Response> {
  return fetch(`${url}/api/admin/${resource}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** Creates and revokes keys like the management plane. */
export function keysOf({ context }: TestContext): Keys {
  const { database, clock } = context;
  const { keys } = database;
  const events = eventsOf(context);
  return createKeys({ keys, events, clock, activePerUserMax: 1_000 });
}

/** Changes groups like the management plane. */
export function groupsOf({ context }: TestContext): GroupRules {
  const { database, clock } = context;
  return createGroupRules({
    multiplierMin: 0,
    stores: database,
    events: eventsOf(context),
    clock,
  });
}

/** Changes accounts like the management plane. */
export function usersOf({ context }: TestContext): UserDirectory {
  const { database, bus, clock, log } = context;
  const { channels, counters } = bus;
  const events = eventsOf(context);
  const changes = createAccountChanges({ channels, counters, log });
  const signInEnds = createSignInEnds({ changes, events });
  return createUserDirectory({ store: database.userDirectory, signInEnds, events, clock });
}

const eventsOf = ({ bus, log }: TestContext['context']) =>
  createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
