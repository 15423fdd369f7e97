import type { ModelRules } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { AuditedCall } from '../../audit/audit-rule.ts';
import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { groupTarget } from './group-records.ts';

const audit = {
  target: groupTarget,
  state: (
    { params }: AuditedCall<'group.models.allow' | 'group.models.deny'>,
    { modelRules }: DatabaseStores,
  ) => modelRules.list(params.group_id),
};

export function createGroupModelsMethods({
  groupRules: { models },
}: Services): HandlersOf<'group.models'> {
  return {
    'group.models.list': async (_params, { group }) => rulesRecord(await models.list(group.id)),
    'group.models.allow': {
      audit,
      handle: async ({ model_ids }, { group }) =>
        rulesRecord(await models.allow(group.id, model_ids)),
    },
    'group.models.deny': {
      audit,
      handle: async ({ model_ids }, { group }) =>
        rulesRecord(await models.deny(group.id, model_ids)),
    },
  };
}

function rulesRecord({ allowed, denied }: ModelRules): RpcResult<'group.models.list'> {
  return { allowed: [...allowed], denied: [...denied] };
}
