import { describeError, type Channels, type Log } from '@model-gateway/kernel';

/** What changed about whom a key speaks for, or about what it may do. */
export type AccountChange =
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'member'; readonly groupId: string; readonly userId: string };

/** Tells every process what it may have remembered and should forget. */
export interface AccountEvents {
  /** Called after the change is stored. Nobody waits for it, and it never fails a call. */
  changed(change: AccountChange): void;
}

interface AccountEventsDependencies {
  readonly channels: Pick<Channels, 'publish'>;
  readonly log: Log;
}

const CHANNEL = 'accounts';

/** Announces changes on the `accounts` channel. */
export function createAccountEvents({ channels, log }: AccountEventsDependencies): AccountEvents {
  return {
    changed(change) {
      channels.publish(CHANNEL, messageOf(change)).catch((error: unknown) => {
        log.warn({ ...change, reason: describeError(error) }, 'a change was not announced');
      });
    },
  };
}

function messageOf(change: AccountChange): string {
  return JSON.stringify({
    kind: change.kind,
    group_id: change.groupId,
    ...(change.kind === 'member' ? { user_id: change.userId } : {}),
  });
}
