import { describeError, type Log } from '@model-gateway/kernel';
import type { AdmissionStore, DrawingAccount } from './admission-store.ts';
import type { BillingFacts } from './billing-facts.ts';

/** Tells the admission store what became of accounts. */
export interface AccountHints {
  /**
   * Awaited after a movement and before the caller is answered, so that the next request is let in by the new balance. Never
   * rejects: what could not be told is found out later.
   */
  refresh(accounts: readonly DrawingAccount[]): Promise<void>;
}

interface AccountHintsDependencies {
  readonly facts: Pick<BillingFacts, 'account'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly log: Log;
}

/** Reads accounts after the fact: whoever else moved them meanwhile, the newest state is what is told. */
export function createAccountHints({
  facts,
  admission,
  log,
}: AccountHintsDependencies): AccountHints {
  return {
    async refresh(accounts) {
      try {
        const states = await Promise.all(
          accounts.map(async ({ type, id }) => ({
            type,
            id,
            ...(await facts.account({ type, id })),
          })),
        );
        await admission.updateHints({ windows: [], accounts: states });
      } catch (error) {
        log.warn({ accounts, reason: describeError(error) }, 'a new balance was not told');
      }
    },
  };
}
