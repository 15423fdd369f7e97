import { GROUP_REQUIREMENTS, type GroupAction, type GroupRules } from '@model-gateway/accounts';
import type { Guard } from '../protocol/dispatcher.ts';
import { z } from 'zod';

const inGroup = z.object({ group_id: z.uuid() });

/** Refuses who may not do this to the group before their params are looked at: a role comes before params. */
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
