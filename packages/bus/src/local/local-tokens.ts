import type { Clock } from '@model-gateway/kernel';
import { wholeAmount } from '../whole-amounts.ts';
import { createBoundedExpiringMap } from './bounded-expiring-map.ts';

/** The tokens that keys have used in the last minute, inside one process. */
export interface LocalTokens {
  add(keyId: string, tokens: number): void;
  /** The tokens, and when the oldest of them stop counting. */
  of(keyId: string): { readonly tokens: number; readonly nextFreeMs: number };
}

interface Used {
  readonly at: number;
  tokens: number;
}

const LIMITED_MS = 60_000;
/** What is used within this time counts as used at its beginning, so that lists stay short. */
const SPAN_MS = 1_000;

export function createLocalTokens(clock: Clock, keysMax: number): LocalTokens {
  const logs = createBoundedExpiringMap<Used[]>({ clock, entriesMax: keysMax });

  function countingOf(keyId: string, now: number): Used[] {
    const log = logs.get(keyId)?.value ?? [];
    const first = log.findIndex(({ at }) => at + SPAN_MS > now - LIMITED_MS);
    log.splice(0, first === -1 ? log.length : first);
    return log;
  }

  return {
    add(keyId, tokens) {
      const now = clock.now();
      const log = countingOf(keyId, now);
      const last = log.at(-1);
      const whole = wholeAmount(tokens);
      if (last !== undefined && now - last.at < SPAN_MS) last.tokens += whole;
      else log.push({ at: now, tokens: whole });
      logs.set(keyId, log, now + LIMITED_MS + SPAN_MS);
    },
    of(keyId) {
      const now = clock.now();
      const log = countingOf(keyId, now);
      const oldest = log[0]?.at ?? now - SPAN_MS;
      return {
        tokens: log.reduce((sum, { tokens }) => sum + tokens, 0),
        nextFreeMs: oldest + SPAN_MS + LIMITED_MS - now,
      };
    },
  };
}
