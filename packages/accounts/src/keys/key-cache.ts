import { ServiceError } from '@model-gateway/contracts';
import { sha256Hex, withTimeout, type Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { AccountChange, NumberedChange } from '../changes/account-change.ts';
import type { ModelPolicy } from '../groups/is-model-allowed.ts';
import type { HolderLimits, KeyHolder } from './key-store.ts';
import { isKeyForm } from './keys.ts';

/** Whom a key speaks for, how much it may, and the rules of its group. */
export interface KeyGrant {
  readonly holder: KeyHolder;
  readonly limits: HolderLimits;
  /** Null where no group has a say. */
  readonly modelPolicy: ModelPolicy | null;
}

/** A grant, and the number of changes that it is known to hold after. */
export interface KnownGrant {
  readonly grant: KeyGrant;
  readonly epoch: number;
}

/**
 * Remembers keys, and forgets in time. What is remembered counts only while nothing has changed about it: every request
 * brings the epoch, the number of changes so far, as it was read after the request came in. Changes are announced too;
 * those that were heard of in order leave everything standing that they do not name.
 */
export interface KeyCache {
  /** Whom a secret speaks for, or undefined when it is nobody's. Asks for the epoch. */
  find(secret: string): Promise<KnownGrant | undefined>;
  /** What is remembered, without asking anybody. It counts for whoever learns by himself that there were no more changes. */
  recall(secret: string): KnownGrant | undefined;
  /** Takes in an announced change. */
  applyChange(change: NumberedChange): void;
}

interface KeyCacheDependencies {
  /** Asks the store. */
  readonly lookUp: (secret: string) => Promise<KeyGrant | undefined>;
  /** Asks how many changes there have been by now. */
  readonly readEpoch: () => Promise<number>;
  readonly clock: Clock;
}

interface Entry {
  readonly grant: KeyGrant | undefined;
  readonly epoch: number;
  readonly generation: number;
  readonly lookedUpAt: number;
}

interface Lookup {
  readonly epoch: number;
  readonly generation: number;
  readonly answer: Promise<KeyGrant | undefined>;
}

const KEYS_MAX = 20_000;
const UNKNOWN_MAX = 5_000;
/** How long a revocation can go unnoticed when it could not be announced, such as without Redis. */
const FRESH_MS = 5_000;
/** How long a key goes on working while the store is away. */
const STALE_MAX_MS = 10 * 60_000;
/** A store that does not answer for so long counts as away for those whose key is remembered. */
const LOOKUP_TIMEOUT_MS = 500;
/** How long a store that was away is not asked again about a key that nothing has changed about. */
const UNAVAILABLE_PAUSE_MS = 2_000;

export function createKeyCache({ lookUp, readEpoch, clock }: KeyCacheDependencies): KeyCache {
  const known = new LRUCache<string, Entry>({ max: KEYS_MAX });
  // Apart, so that made-up keys cannot push real ones out.
  const unknown = new LRUCache<string, Entry>({ max: UNKNOWN_MAX });
  const lookups = new Map<string, Lookup>();
  /** Every change up to this one has been applied to what is remembered. */
  let applied = 0;
  /** Goes up when changes may have been missed: what was remembered before has to be looked up anew. */
  let generation = 0;
  let unavailableUntil = 0;

  const isUnchanged = (entry: Entry, epoch: number): boolean =>
    entry.generation === generation && Math.max(entry.epoch, applied) >= epoch;

  const isYounger = (entry: Entry, ageMs: number): boolean =>
    clock.now() - entry.lookedUpAt < ageMs;

  function distrustAll(epoch: number): void {
    applied = epoch;
    generation += 1;
    unknown.clear();
  }

  function remember(hash: string, grant: KeyGrant | undefined, lookup: Lookup): void {
    // A change that came in meanwhile may be about this very key, and the store may have been read before it.
    if (lookup.generation !== generation || applied > lookup.epoch) return;
    const { epoch } = lookup;
    const entry = { grant, epoch, generation, lookedUpAt: clock.now() };
    if (grant === undefined) known.delete(hash);
    (grant === undefined ? unknown : known).set(hash, entry);
  }

  async function ask(secret: string, hash: string, epoch: number): Promise<KeyGrant | undefined> {
    const underWay = lookups.get(hash);
    // One that began before the latest change may not know of it.
    if (underWay?.generation === generation && underWay.epoch >= epoch) return underWay.answer;
    const lookup: Lookup = { epoch, generation, answer: lookUp(secret) };
    lookups.set(hash, lookup);
    try {
      const grant = await lookup.answer;
      remember(hash, grant, lookup);
      return grant;
    } finally {
      if (lookups.get(hash) === lookup) lookups.delete(hash);
    }
  }

  /** Asks the store; while that is away, what is still remembered goes on. */
  async function lookUpOrKeep(
    secret: string,
    hash: string,
    epoch: number,
  ): Promise<KeyGrant | undefined> {
    const answer = ask(secret, hash, epoch);
    const remembered = (): KeyGrant | undefined => {
      const entry = known.get(hash);
      return entry !== undefined && isYounger(entry, STALE_MAX_MS) ? entry.grant : undefined;
    };
    try {
      if (remembered() === undefined) return await answer;
      const outcome = await withTimeout(answer, LOOKUP_TIMEOUT_MS, () => 'late' as const);
      if (outcome !== 'late') return outcome;
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'store_unavailable')) throw error;
    }
    // Looked at again: an announcement may have arrived that takes it back.
    const grant = remembered();
    if (grant === undefined) return answer;
    unavailableUntil = clock.now() + UNAVAILABLE_PAUSE_MS;
    return grant;
  }

  /** Whether an entry need not be looked up anew, as far as its age goes. */
  function isFresh(entry: Entry): boolean {
    if (isYounger(entry, FRESH_MS)) return true;
    const isUnavailable = clock.now() < unavailableUntil && isYounger(entry, STALE_MAX_MS);
    return isUnavailable && entry.grant !== undefined;
  }

  async function grantAt(
    secret: string,
    hash: string,
    epoch: number,
  ): Promise<KeyGrant | undefined> {
    const entry = known.get(hash) ?? unknown.get(hash);
    const stands = entry !== undefined && isUnchanged(entry, epoch) && isFresh(entry);
    return stands ? entry.grant : lookUpOrKeep(secret, hash, epoch);
  }

  return {
    async find(secret) {
      if (!isKeyForm(secret)) return undefined;
      const hash = sha256Hex(secret);
      const appliedBefore = applied;
      const epoch = await readEpoch();
      // Fewer changes than were heard of before it was asked: the count began anew, or somebody else counts.
      if (epoch < appliedBefore) distrustAll(epoch);
      const grant = await grantAt(secret, hash, epoch);
      return grant && { grant, epoch };
    },
    recall(secret) {
      const entry = known.get(sha256Hex(secret));
      if (entry?.grant === undefined || entry.generation !== generation) return undefined;
      if (!isFresh(entry)) return undefined;
      return { grant: entry.grant, epoch: Math.max(entry.epoch, applied) };
    },
    applyChange({ epoch, change }) {
      if (epoch > applied + 1) distrustAll(epoch);
      applied = Math.max(applied, epoch);
      for (const [hash, { grant }] of known.entries()) {
        if (grant !== undefined && concerns(change, grant.holder)) known.delete(hash);
      }
      // Which of these a change made somebody's cannot be told.
      unknown.clear();
    },
  };
}

function concerns(change: AccountChange, holder: KeyHolder): boolean {
  switch (change.kind) {
    case 'key':
      return holder.keyId === change.keyId;
    case 'group':
      return holder.groupId === change.groupId;
    case 'member':
      return holder.groupId === change.groupId && holder.userId === change.userId;
    case 'user':
      return holder.userId === change.userId;
    case 'tiers':
      return true;
  }
}
