import type { UsageEvent } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';

/** What this process served a user in the last moments. */
export interface RecentUsage {
  readonly costUsd: number;
  readonly tokens: number;
  /** The latest request. */
  readonly last: { readonly id: string; readonly createdAt: string };
}

/**
 * Usage of the last moments that the database may not have counted yet. Without it a client with fast requests would get one
 * more than its quota.
 */
export interface UnsettledUsage {
  note(event: UsageEvent): void;
  of(userId: string): RecentUsage | undefined;
}

/** Whole spans are dropped at once, so that a busy user costs no more than others: between one and two spans are known. */
const SPAN_MS = 1_000;
const USERS_MAX = 20_000;

interface Tally {
  span: number;
  costUsd: number;
  tokens: number;
  costUsdBefore: number;
  tokensBefore: number;
  last: RecentUsage['last'];
}

export function createUnsettledUsage(clock: Clock): UnsettledUsage {
  const tallies = new LRUCache<string, Tally>({ max: USERS_MAX });

  const currentSpan = (): number => Math.floor(clock.now() / SPAN_MS);

  /** Moves a tally to the current span; false when all of it is too old. */
  function isRecent(tally: Tally, span: number): boolean {
    const passed = span - tally.span;
    if (passed === 0) return true;
    tally.costUsdBefore = passed === 1 ? tally.costUsd : 0;
    tally.tokensBefore = passed === 1 ? tally.tokens : 0;
    tally.costUsd = 0;
    tally.tokens = 0;
    tally.span = span;
    return passed === 1;
  }

  return {
    note(event) {
      const span = currentSpan();
      const last = { id: event.id, createdAt: event.created_at };
      const costUsd = event.cost ?? 0;
      const tally = tallies.get(event.user_id);
      if (tally === undefined) {
        const tokens = event.total_tokens;
        const empty = { costUsdBefore: 0, tokensBefore: 0 };
        tallies.set(event.user_id, { span, costUsd, tokens, ...empty, last });
        return;
      }
      isRecent(tally, span);
      tally.costUsd += costUsd;
      tally.tokens += event.total_tokens;
      tally.last = last;
    },
    of(userId) {
      const tally = tallies.get(userId);
      if (tally === undefined) return undefined;
      if (!isRecent(tally, currentSpan())) {
        tallies.delete(userId);
        return undefined;
      }
      return {
        costUsd: tally.costUsd + tally.costUsdBefore,
        tokens: tally.tokens + tally.tokensBefore,
        last: tally.last,
      };
    },
  };
}
