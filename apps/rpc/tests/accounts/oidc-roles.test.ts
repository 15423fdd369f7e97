import { createTestContext } from '@model-gateway/testkit';
import { CLIENT } from '@model-gateway/testkit/oidc';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import {
  ADMIN_GROUP,
  ADMIN_TOKEN,
  become,
  call,
  done,
  enter,
  entered,
  entriesOf,
  provider,
  update,
  useOidcScene,
} from './oidc-scene.ts';

// When a person of the identity provider is an admin.

useOidcScene();

describe('the role of an admin', () => {
  const isAdmin = async (userId: string) =>
    (await done<{ is_admin: boolean }>('users.get', { user_id: userId }, ADMIN_TOKEN)).is_admin;

  test('comes and goes with the group of the provider, with an entry each time', async () => {
    become('grouped@example.com', { groups: ['staff'] });
    const { user } = await entered();
    expect(user.is_admin).toBe(false);
    become('grouped@example.com', { groups: ['staff', ADMIN_GROUP] });
    const promoted = await entered();
    expect(promoted.user.is_admin).toBe(true);
    expect((await call('users.list', {}, promoted.access_token)).error).toBeUndefined();
    await entered();
    become('grouped@example.com', { groups: [] });
    expect((await entered()).user.is_admin).toBe(false);
    expect((await call('users.list', {}, promoted.access_token)).error).toMatchObject({
      code: -32_007,
    });
    expect(await entriesOf(user.id)).toMatchObject([
      { action: 'provider.role', before: { is_admin: false }, after: { is_admin: true } },
      { action: 'provider.role', before: { is_admin: true }, after: { is_admin: false } },
    ]);
  });

  test('is in the log when the sign-in creates the account with it', async () => {
    become('new-admin@example.com', { groups: [ADMIN_GROUP] });
    const { user } = await entered();
    expect(await entriesOf(user.id)).toMatchObject([
      { action: 'provider.create', before: null, after: { is_admin: true } },
    ]);
  });

  test('that an admin gave stays', async () => {
    become('appointed@example.com', { groups: [ADMIN_GROUP] });
    const { user } = await entered();
    await update(user.id, { is_admin: true });
    become('appointed@example.com', { groups: [] });
    await entered();
    expect(await isAdmin(user.id)).toBe(true);
  });

  test('stays with the last active admin', async () => {
    const alone = await createTestContext();
    const config = readRpcConfig({
      DATABASE_URL: 'postgres://unused',
      REDIS_URL: 'redis://unused',
      SERVICE_OIDC_ISSUER: provider.issuer,
      SERVICE_OIDC_CLIENT_ID: CLIENT.id,
      SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
      SERVICE_OIDC_ADMIN_GROUPS: ADMIN_GROUP,
    });
    try {
      const base = await alone.serve(createRpc(config, alone.context));
      provider.allow(base);
      become('only@example.com', { groups: [ADMIN_GROUP] });
      expect(await enter(base)).toMatchObject({ status: 200, user: { is_admin: true } });
      become('only@example.com', { groups: [] });
      expect(await enter(base)).toMatchObject({ status: 200, user: { is_admin: true } });
    } finally {
      await alone.close();
    }
  });
});
