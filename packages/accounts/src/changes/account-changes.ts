import type { Channels, Counters, Log, Subscription } from '@model-gateway/kernel';
import {
  ACCOUNT_EPOCH_KEY,
  ACCOUNTS_CHANNEL,
  decodeChange,
  type NumberedChange,
} from './account-change.ts';

/** Receives the changes that `AccountEvents` publishes. */
export interface AccountChanges {
  /** The number of changes so far, read after this call. Concurrent calls share one read. */
  readEpoch(): Promise<number>;
  /** Called with each change, shortly after it was made. */
  subscribe(onChange: (change: NumberedChange) => void): Promise<Subscription>;
}

interface AccountChangesDependencies {
  readonly channels: Pick<Channels, 'subscribe'>;
  readonly counters: Pick<Counters, 'read'>;
  readonly log: Log;
}

export function createAccountChanges(dependencies: AccountChangesDependencies): AccountChanges {
  const { channels, counters, log } = dependencies;
  let underWay: Promise<number> | undefined;
  let next: Promise<number> | undefined;

  function ask(): Promise<number> {
    next = undefined;
    const question = counters.read([ACCOUNT_EPOCH_KEY]).then(([epoch = 0]) => epoch);
    underWay = question;
    const answered = () => {
      if (underWay === question) underWay = undefined;
    };
    question.then(answered, answered);
    return question;
  }

  return {
    readEpoch() {
      if (underWay === undefined) return ask();
      // A read in progress may return a value from before this call; the next one will not.
      next ??= underWay.then(ask, ask);
      return next;
    },
    subscribe: (onChange) =>
      channels.subscribe(ACCOUNTS_CHANNEL, (message) => {
        const change = decodeChange(message);
        if (change === undefined) log.warn({}, 'an account change message is invalid');
        else onChange(change);
      }),
  };
}
