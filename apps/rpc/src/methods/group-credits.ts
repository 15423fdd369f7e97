import type { GroupAccess } from '@model-gateway/accounts';
import type { Handlers } from '../protocol/handlers.ts';
import { notAvailableYet } from './not-available-yet.ts';

type CreditsMethodName = Extract<keyof Handlers, `group.credits.${string}`>;

/** The points of a group: who may touch them is decided already, moving them is not available yet. */
export function createGroupCreditsMethods(access: GroupAccess): Pick<Handlers, CreditsMethodName> {
  return {
    'group.credits.topup': async ({ group_id }, { user }) => {
      await access.enter(user, group_id, 'group.credits.topup');
      return notAvailableYet();
    },
    'group.credits.balance': async ({ group_id }, { user }) => {
      await access.enter(user, group_id, 'group.credits.balance');
      return notAvailableYet();
    },
    'group.credits.allocate': async ({ group_id }, { user }) => {
      await access.enter(user, group_id, 'group.credits.allocate');
      return notAvailableYet();
    },
  };
}
