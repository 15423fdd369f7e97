import type { DatabaseStores } from '@model-gateway/db';
import type { AuditedCall } from '../../audit/audit-rule.ts';
import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { ledgerRecord } from '../ledger.ts';
import { groupTarget, memberTarget } from './group-records.ts';

async function balanceState(
  { params }: AuditedCall<'group.credits.topup' | 'group.credits.allocate'>,
  { billingFacts }: DatabaseStores,
) {
  const { balance } = await billingFacts.account({ type: 'group', id: params.group_id });
  return { balance };
}

/** The points of a group. */
export function createGroupCreditsMethods({
  ledger,
  hints,
}: Services): HandlersOf<'group.credits'> {
  return {
    'group.credits.topup': {
      audit: { target: groupTarget, state: balanceState },
      handle: async ({ points, note, idempotency_key }, { group: { id } }) => {
        const movement = { groupId: id, points, note, idempotencyKey: idempotency_key };
        const { balance } = await ledger.topUp(movement);
        await hints.refresh([{ type: 'group', id }]);
        return { balance };
      },
    },
    'group.credits.balance': async (_params, { group: { id } }) =>
      ledgerRecord(await ledger.read({ type: 'group', id })),
    'group.credits.allocate': {
      audit: {
        target: ({ params }, stores) => memberTarget(params.group_id, params.user_id, stores),
        state: balanceState,
      },
      handle: async ({ user_id, points, note, idempotency_key }, { group: { id } }) => {
        const { balance, walletBalance, userId } = await ledger.allocate({
          groupId: id,
          email: user_id,
          points,
          note,
          idempotencyKey: idempotency_key,
        });
        await hints.refresh([
          { type: 'group', id },
          { type: 'user', id: userId },
        ]);
        return { balance, wallet_balance: walletBalance };
      },
    },
  };
}
