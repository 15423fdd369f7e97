import { GROUP_REQUIREMENTS, type GroupAction, type GroupRules } from '@model-gateway/accounts';
import type { Guard } from '../protocol/dispatcher.ts';
import { z } from 'zod';

const inGroup = z.object({ group_id: z.uuid() });

/** Checks the role in the group before the params are validated, as the contract requires. */
export function createGroupGuard({ access }: Pick<GroupRules, 'access'>): Guard {
  return async (method, params, { user }) => {
    if (user === undefined || !isGroupAction(method)) return;
    const named = inGroup.safeParse(params);
    if (named.success) await access.enter(user, named.data.group_id, method);
  };
}

function isGroupAction(method: string): method is GroupAction {
  return Object.hasOwn(GROUP_REQUIREMENTS, method);
}
