import { createKeys } from '@model-gateway/accounts';
import { newId } from '@model-gateway/kernel';
import { createTestContext, type TestContext } from '@model-gateway/testkit';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';

const ADMIN_TOKEN = 'the admin token of the tests';

/** A gateway on real stores, with a user and a key. */
export interface GatewayUnderTest {
  readonly url: string;
  readonly key: string;
  readonly keyId: string;
  readonly userId: string;
  readonly test: TestContext;
}

export async function startGateway(
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayUnderTest> {
  const test = await createTestContext();
  const { database, clock } = test.context;
  const user = await database.users.create({
    id: newId(),
    email: 'owner@example.com',
    name: 'Owner',
    passwordHash: 'not used',
  });
  const { key, secret } = await createKeys({
    keys: database.keys,
    memberships: database.memberships,
    clock,
  }).create({ userId: user.id, name: 'test' });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_CORS_ORIGINS: 'https://app.example.com',
    SERVICE_MAX_BODY_BYTES: '10000',
    ...env,
  });
  const url = await test.serve(createGateway(config, test.context));
  return { url, key: secret, keyId: key.id, userId: user.id, test };
}

/** Registers a backend over the admin surface. */
export async function registerBackend(
  { url }: GatewayUnderTest,
  backend: Readonly<Record<string, unknown>>,
  token = ADMIN_TOKEN,
): Promise<Response> {
  return fetch(`${url}/api/admin/backends`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(backend),
  });
}
