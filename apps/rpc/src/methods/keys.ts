import type { Keys } from '@model-gateway/accounts';
import type { Handlers } from '../protocol/handlers.ts';

export function createKeysMethods(keys: Keys): Pick<Handlers, 'keys.create'> {
  return {
    'keys.create': async ({ name, project }, { user }) => {
      const { key, secret } = await keys.create({ userId: user.id, name, project });
      return {
        id: key.id,
        name: key.name,
        key: secret,
        key_prefix: key.keyPrefix,
        key_hint: key.keyHint,
        project: key.project,
        group_id: key.groupId,
        active: key.revokedAt === null,
        created_at: key.createdAt.toISOString(),
        last_used_at: key.lastUsedAt?.toISOString() ?? null,
        revoked_at: key.revokedAt?.toISOString() ?? null,
      };
    },
  };
}
