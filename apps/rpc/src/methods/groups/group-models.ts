import type { ModelRules } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';

export function createGroupModelsMethods({
  groupRules: { models },
}: Services): HandlersOf<'group.models'> {
  return {
    'group.models.list': async (_params, { group }) => rulesRecord(await models.list(group.id)),
    'group.models.allow': async ({ model_ids }, { group }) =>
      rulesRecord(await models.allow(group.id, model_ids)),
    'group.models.deny': async ({ model_ids }, { group }) =>
      rulesRecord(await models.deny(group.id, model_ids)),
  };
}

function rulesRecord({ allowed, denied }: ModelRules): RpcResult<'group.models.list'> {
  return { allowed: [...allowed], denied: [...denied] };
}
