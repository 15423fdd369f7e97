import { describeError, type Channels, type Counters, type Log } from '@model-gateway/kernel';
import { ACCOUNT_EPOCH_KEY, ACCOUNTS_CHANNEL, encodeChange } from './account-change.ts';
import type { AccountChange } from './account-change.ts';

/** Notifies every process of changes that invalidate its caches. */
export interface AccountEvents {
  /**
   * Called after the change is stored and awaited before the response: every later read of the epoch shows that something
   * changed, even before the announcement arrives. Never rejects.
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
        log.warn({ ...change, reason: describeError(error) }, 'announcing a change failed');
      }
    },
  };
}
