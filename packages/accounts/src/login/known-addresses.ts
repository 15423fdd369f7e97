import type { Clock } from '@model-gateway/kernel';
import { addressKey } from './address-key.ts';

/** The addresses from which users have signed in lately. */
export interface KnownAddresses {
  remember(user: { readonly id: string }, clientIp: string): Promise<void>;
  /** False also when the email has no account. */
  isKnown(who: { readonly email: string; readonly clientIp: string }): Promise<boolean>;
}

/** Stores sign-in addresses as hashes. */
export interface SignInAddressStore {
  /** Adds the address or renews its time. Keeps the newest addresses of the user, up to a limit. */
  save(userId: string, addressHash: string, at: Date, keptMax: number): Promise<void>;
  /** Whether the account with this email was signed in to from the address, at this time or later. */
  has(email: string, addressHash: string, since: Date): Promise<boolean>;
  /** Deletes old addresses, up to a limit. */
  removeBefore(before: Date, countMax: number): Promise<void>;
}

const KNOWN_MS = 30 * 24 * 60 * 60_000;
const KEPT_PER_USER_MAX = 100;
// Each sign-in deletes a few old addresses.
const REMOVED_MAX = 20;

export function createKnownAddresses(addresses: SignInAddressStore, clock: Clock): KnownAddresses {
  const oldest = () => new Date(clock.now() - KNOWN_MS);
  return {
    async remember({ id }, clientIp) {
      await addresses.save(id, addressKey(clientIp), new Date(clock.now()), KEPT_PER_USER_MAX);
      await addresses.removeBefore(oldest(), REMOVED_MAX);
    },
    async isKnown({ email, clientIp }) {
      // The database rejects a NUL character, even in a query.
      if (email.includes('\u0000')) return false;
      return addresses.has(email, addressKey(clientIp), oldest());
    },
  };
}
