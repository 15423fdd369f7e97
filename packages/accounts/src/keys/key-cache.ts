import { ServiceError } from '@model-gateway/contracts';
import { sha256Hex, withTimeout, type Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { AccountChange, NumberedChange } from '../changes/account-change.ts';
import type { ModelPolicy } from '../groups/is-model-allowed.ts';
import type { FoundKey, KeyHolder } from './key-store.ts';
import { isKeyForm } from './keys.ts';

/** The holder of a key, its limits and settings, and the rules for its models. */
export interface KeyGrant extends FoundKey {
  /** Null if neither its group nor the key has any. */
  readonly modelPolicy: ModelPolicy | null;
}

/** A grant, and the number of changes up to which it is valid. */
export interface KnownGrant {
  readonly grant: KeyGrant;
  readonly epoch: number;
}

/**
 * A cache of keys. An entry is valid only while nothing about it has changed: every request reads the epoch, which is the
 * number of changes so far. Changes are also announced; if they arrive in order, all entries stay valid that they do not
 * concern. A secret that a rotation replaced is unknown when its time is over, which no change announces.
 */
export interface KeyCache {
  /** The grant of a secret, or undefined for an unknown one. Reads the epoch. */
  find(secret: string): Promise<KnownGrant | undefined>;
  /** The cached grant, without any read. The caller must check that there were no later changes. */
  recall(secret: string): KnownGrant | undefined;
  /** Applies an announced change. */
  applyChange(change: NumberedChange): void;
}

interface KeyCacheDependencies {
  readonly lookUp: (secret: string) => Promise<KeyGrant | undefined>;
  /** Reads the number of changes so far. */
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
/** How long a revocation can go unnoticed if it could not be announced, such as without Redis. */
const FRESH_MS = 5_000;
/** How long a cached key stays valid while the store is unavailable. */
const STALE_MAX_MS = 10 * 60_000;
/** After this time without a response the store counts as unavailable for cached keys. */
const LOOKUP_TIMEOUT_MS = 1_000;
/** How long an unavailable store is not read again for an unchanged key. */
const UNAVAILABLE_PAUSE_MS = 2_000;

export function createKeyCache({ lookUp, readEpoch, clock }: KeyCacheDependencies): KeyCache {
  const known = new LRUCache<string, Entry>({ max: KEYS_MAX });
  // Separate, so that unknown keys cannot evict real ones.
  const unknown = new LRUCache<string, Entry>({ max: UNKNOWN_MAX });
  const lookups = new Map<string, Lookup>();
  /** Every change up to this one has been applied to the cache. */
  let applied = 0;
  /** Increases when changes may have been missed: older entries must be looked up again. */
  let generation = 0;
  let unavailableUntil = 0;

  const isUnchanged = (entry: Entry, epoch: number): boolean =>
    entry.generation === generation && Math.max(entry.epoch, applied) >= epoch;

  const isYounger = (entry: Entry, ageMs: number): boolean =>
    clock.now() - entry.lookedUpAt < ageMs;

  const isOver = ({ replacedUntil }: KeyGrant): boolean =>
    replacedUntil !== null && clock.now() >= replacedUntil.getTime();

  function distrustAll(epoch: number): void {
    applied = epoch;
    generation += 1;
    unknown.clear();
  }

  function remember(hash: string, grant: KeyGrant | undefined, lookup: Lookup): void {
    // A change since then may concern this key, and the store may have been read before it.
    if (lookup.generation !== generation || applied > lookup.epoch) return;
    const { epoch } = lookup;
    const entry = { grant, epoch, generation, lookedUpAt: clock.now() };
    if (grant === undefined) known.delete(hash);
    (grant === undefined ? unknown : known).set(hash, entry);
  }

  async function ask(secret: string, hash: string, epoch: number): Promise<KeyGrant | undefined> {
    const underWay = lookups.get(hash);
    // A lookup that began before the latest change may not include it.
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

  /** Reads the store; while it is unavailable, cached entries stay valid. */
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
    // Checked again: an announcement may have invalidated it.
    const grant = remembered();
    if (grant === undefined) return answer;
    unavailableUntil = clock.now() + UNAVAILABLE_PAUSE_MS;
    return grant;
  }

  /** Whether an entry is recent enough to be used without a lookup. */
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
      // Fewer changes than were announced before the read: the counter was reset or replaced.
      if (epoch < appliedBefore) distrustAll(epoch);
      const grant = await grantAt(secret, hash, epoch);
      return grant === undefined || isOver(grant) ? undefined : { grant, epoch };
    },
    recall(secret) {
      const entry = known.get(sha256Hex(secret));
      if (entry?.grant === undefined || entry.generation !== generation) return undefined;
      if (!isFresh(entry) || isOver(entry.grant)) return undefined;
      return { grant: entry.grant, epoch: Math.max(entry.epoch, applied) };
    },
    applyChange({ epoch, change }) {
      if (epoch > applied + 1) distrustAll(epoch);
      applied = Math.max(applied, epoch);
      if (change.kind === 'sign-in-ended') return;
      for (const [hash, { grant }] of known.entries()) {
        if (grant !== undefined && concerns(change, grant.holder)) known.delete(hash);
      }
      // It is unknown which of these keys a change made valid.
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
    case 'user-deactivated':
      return holder.userId === change.userId;
    case 'tiers':
      return true;
    case 'sign-in-ended':
      return false;
  }
}
