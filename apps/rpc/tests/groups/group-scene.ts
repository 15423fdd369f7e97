import { createAccessTokens, type User } from '@model-gateway/accounts';
import type { RpcMethodName } from '@model-gateway/contracts';
import { newId, sha256Hex } from '@model-gateway/kernel';
import type { RpcAnswer, TestContext } from '@model-gateway/testkit';
import { startRpc } from '../rpc-server.ts';

/** A user with an access token. */
export interface TestUser extends User {
  readonly token: string;
}

/** A group with one user of every role. */
export interface PopulatedGroup {
  readonly id: string;
  readonly owner: TestUser;
  readonly admin: TestUser;
  readonly member: TestUser;
  readonly deactivated: TestUser;
}

/** A management plane with users and groups. */
export interface GroupScene {
  readonly url: string;
  readonly context: TestContext['context'];
  /** The first account: a platform admin in no group. */
  readonly platform: TestUser;
  readonly outsider: TestUser;
  call(method: RpcMethodName, params: object, user?: TestUser | string): Promise<RpcAnswer>;
  createUser(name: string): Promise<TestUser>;
  populatedGroup(): Promise<PopulatedGroup>;
  /** The hash of a new key of a user in a group. */
  groupKey(user: TestUser, groupId: string): Promise<string>;
  close(): Promise<void>;
}

export async function openGroupScene(
  env: Readonly<Record<string, string>> = {},
): Promise<GroupScene> {
  const server = await startRpc(env);
  const { context } = server.test;
  const { database, clock } = context;
  const tokens = createAccessTokens({ secret: context.jwtSecret, expiresInSecs: 900, clock });

  async function createUser(name: string): Promise<TestUser> {
    const id = newId();
    const email = `${name}-${id.slice(0, 8)}@example.com`;
    const user = await database.users.create({ id, email, name, passwordHash: 'none' });
    return { ...user, token: tokens.sign(id) };
  }

  const platform = await createUser('platform');
  const outsider = await createUser('outsider');
  const owner = await createUser('owner');
  const admin = await createUser('admin');
  const member = await createUser('member');
  const deactivated = await createUser('deactivated');

  return {
    url: server.url,
    context,
    platform,
    outsider,
    call: (method, params, who) =>
      server.call(method, params, typeof who === 'string' ? who : who?.token),
    createUser,
    async populatedGroup() {
      const id = newId();
      await database.groups.create({ id, ownerId: owner.id, name: 'peopled', description: '' });
      await database.members.save(id, admin.id, { role: 'admin' });
      await database.members.save(id, member.id, {});
      await database.members.save(id, deactivated.id, { role: 'admin' });
      await database.members.update(id, deactivated.id, { isActive: false });
      return { id, owner, admin, member, deactivated };
    },
    async groupKey(holder, groupId) {
      const keyHash = sha256Hex(newId());
      await database.keys.create({
        id: newId(),
        userId: holder.id,
        groupId,
        name: 'key',
        keyHash,
        keyPrefix: 'service-',
        keyHint: 'service-…',
        project: 'default',
      });
      return keyHash;
    },
    close: () => server.test.close(),
  };
}
