import type { GroupModels, ModelRules } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { Handlers } from '../protocol/handlers.ts';

type ModelsMethodName = Extract<keyof Handlers, `group.models.${string}`>;

export function createGroupModelsMethods(models: GroupModels): Pick<Handlers, ModelsMethodName> {
  return {
    'group.models.list': async ({ group_id }, { user }) =>
      rulesRecord(await models.list(user, group_id)),
    'group.models.allow': async ({ group_id, model_ids }, { user }) =>
      rulesRecord(await models.allow(user, group_id, model_ids)),
    'group.models.deny': async ({ group_id, model_ids }, { user }) =>
      rulesRecord(await models.deny(user, group_id, model_ids)),
  };
}

function rulesRecord({ allowed, denied }: ModelRules): RpcResult<'group.models.list'> {
  return { allowed: [...allowed], denied: [...denied] };
}
