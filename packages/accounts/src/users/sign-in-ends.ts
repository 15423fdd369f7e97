import type { Subscription } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { AccountChange } from '../changes/account-change.ts';
import type { AccountChanges } from '../changes/account-changes.ts';
import type { AccountEvents } from '../changes/account-events.ts';
import type { SignIn } from './sign-in.ts';

/** The end of one sign-in, or of all sign-ins of a user. */
export type SignInEnd = Extract<AccountChange, { kind: 'sign-in-ended' | 'user-deactivated' }>;

/** Notifies every process of sign-ins that have ended, so that none of them serves their tokens and sockets any more. */
export interface SignInEnds {
  /** Call it after the end is stored. It takes effect in this process at once, with or without the shared store. */
  announce(end: SignInEnd): Promise<void>;
  /** Whether this process knows that the sign-in has ended. */
  hasEnded(signIn: SignIn): boolean;
  /** Calls back with every end that this process learns of; the returned function cancels it. */
  onEnd(listener: (end: SignInEnd) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SignInEndsDependencies {
  readonly changes: Pick<AccountChanges, 'subscribe'>;
  readonly events: AccountEvents;
}

const FAMILIES_MAX = 50_000;

export function createSignInEnds({ changes, events }: SignInEndsDependencies): SignInEnds {
  // The database knows the revoked families too, but not while it is unavailable. The option `max` would allocate memory for all at once.
  const ended = new LRUCache<string, true>({ maxSize: FAMILIES_MAX, sizeCalculation: () => 1 });
  const listeners = new Set<(end: SignInEnd) => void>();
  let subscription: Subscription | undefined;

  function apply(end: SignInEnd): void {
    if (end.kind === 'sign-in-ended') ended.set(end.familyId, true);
    for (const listener of listeners) listener(end);
  }

  return {
    async announce(end) {
      apply(end);
      await events.changed(end);
    },
    hasEnded: ({ familyId }) => familyId !== undefined && ended.has(familyId),
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async start() {
      subscription = await changes.subscribe(({ change }) => {
        if (change.kind === 'sign-in-ended' || change.kind === 'user-deactivated') apply(change);
      });
    },
    async stop() {
      await subscription?.close();
    },
  };
}
