import type { ApiKey } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createKeysMethods({ keys }: Services): HandlersOf<'keys'> {
  return {
    'keys.list': async (_params, { user }) => (await keys.list(user.id)).map(keyRecord),
    'keys.create': async ({ name, project, group_id }, { user }) => {
      const request = { userId: user.id, name, project, groupId: group_id };
      const { key, secret } = await keys.create(request);
      return { ...keyRecord(key), key: secret };
    },
    'keys.revoke': async ({ key_id }, { user }) => {
      await keys.revoke(user.id, key_id);
      return { ok: true };
    },
  };
}

function keyRecord(key: ApiKey): RpcResult<'keys.list'>[number] {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.keyPrefix,
    key_hint: key.keyHint,
    project: key.project,
    group_id: key.groupId,
    active: key.active,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
