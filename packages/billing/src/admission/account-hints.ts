import { describeError, type Log } from '@model-gateway/kernel';
import type { AdmissionStore, DrawingAccount } from './admission-store.ts';
import type { BillingFacts } from './billing-facts.ts';

/** Updates the account hints of the admission store. */
export interface AccountHints {
  /**
   * Awaited after a movement and before the response, so that the next request uses the new balance. Never rejects: a missing
   * update is corrected later.
   */
  refresh(accounts: readonly DrawingAccount[]): Promise<void>;
}

interface AccountHintsDependencies {
  readonly facts: Pick<BillingFacts, 'account'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly log: Log;
}

/** Reads the accounts after the movement, so that concurrent movements are included. */
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
        log.warn({ accounts, reason: describeError(error) }, 'publishing a balance failed');
      }
    },
  };
}
