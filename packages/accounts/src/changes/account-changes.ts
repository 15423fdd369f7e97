import type { Channels, Counters, Log, Subscription } from '@model-gateway/kernel';
import {
  ACCOUNT_EPOCH_KEY,
  ACCOUNTS_CHANNEL,
  decodeChange,
  type NumberedChange,
} from './account-change.ts';

/** How a process learns what `AccountEvents` told. */
export interface AccountChanges {
  /** How many changes there have been, asked after this call. Calls that meet share one question. */
  readEpoch(): Promise<number>;
  /** Hears of each change, a moment after it was made. */
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
      // A question that is under way may be answered from before this call; the next one will not be.
      next ??= underWay.then(ask, ask);
      return next;
    },
    subscribe: (onChange) =>
      channels.subscribe(ACCOUNTS_CHANNEL, (message) => {
        const change = decodeChange(message);
        if (change === undefined) log.warn({}, 'an announcement of a change was not understood');
        else onChange(change);
      }),
  };
}
