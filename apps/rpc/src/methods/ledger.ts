import type { LedgerReading } from '@model-gateway/billing';
import { ServiceError, type RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createLedgerMethods({ ledger, users }: Services): HandlersOf<'ledger'> {
  return {
    'ledger.self': async (_params, { user }) => {
      const owner = user ?? (await users.findOldestAdmin());
      if (owner === undefined)
        throw new ServiceError(
          'not_found',
          'there is no admin account yet, so there is no wallet to show',
        );
      return ledgerRecord(await ledger.read({ type: 'user', id: owner.id }));
    },
  };
}

/** A wallet or pool in the form that callers get. */
export function ledgerRecord({ balance, entries }: LedgerReading): RpcResult<'ledger.self'> {
  return {
    balance,
    entries: entries.map(({ id, delta, balanceAfter, kind, note, ref, createdAt }) => ({
      id,
      delta,
      balance_after: balanceAfter,
      kind,
      note,
      ref,
      created_at: createdAt.toISOString(),
    })),
  };
}
