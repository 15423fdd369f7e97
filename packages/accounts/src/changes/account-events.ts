import { describeError, type Channels, type Counters, type Log } from '@model-gateway/kernel';
import { ACCOUNT_EPOCH_KEY, ACCOUNTS_CHANNEL, encodeChange } from './account-change.ts';
import type { AccountChange } from './account-change.ts';

/** Tells every process what it may have remembered and should forget. */
export interface AccountEvents {
  /**
   * Called after the change is stored and awaited before the caller is answered: whoever reads the epoch from then on
   * knows that something changed, even while the announcement of what it was is still on its way. Never rejects.
   */
  changed(change: AccountChange): Promise<void>;
}

interface AccountEventsDependencies {
  readonly channels: Pick<Channels, 'publish'>;
  readonly counters: Pick<Counters, 'add'>;
  readonly log: Log;
}

/** Counts every change in the shared epoch and announces it on the `accounts` channel. */
export function createAccountEvents(dependencies: AccountEventsDependencies): AccountEvents {
  const { channels, counters, log } = dependencies;
  return {
    async changed(change) {
      try {
        const epoch = await counters.add(ACCOUNT_EPOCH_KEY, 1);
        await channels.publish(ACCOUNTS_CHANNEL, encodeChange({ epoch, change }));
      } catch (error) {
        log.warn({ ...change, reason: describeError(error) }, 'a change was not announced');
      }
    },
  };
}
