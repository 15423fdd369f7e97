import { ServiceError } from '@model-gateway/contracts';
import type { Clock, Counters, Log } from '@model-gateway/kernel';
import { addressKey } from './address-key.ts';

/** Limits how many accounts one address can register. */
export interface RegistrationLimits {
  /** Counts one registration. Rejects with `rate_limit_exceeded` when the address has reached a limit. */
  admit(clientIp: string): Promise<void>;
}

interface RegistrationLimitsDependencies {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
  readonly perMinuteMax: number;
  readonly perHourMax: number;
}

interface Limit {
  readonly unit: 'minute' | 'hour';
  readonly windowMs: number;
  readonly countMax: number;
}

const MINUTE_MS = 60_000;

export function createRegistrationLimits(
  dependencies: RegistrationLimitsDependencies,
): RegistrationLimits {
  const { counters, clock, log, perMinuteMax, perHourMax } = dependencies;
  const limits: readonly Limit[] = [
    { unit: 'minute', windowMs: MINUTE_MS, countMax: perMinuteMax },
    { unit: 'hour', windowMs: 60 * MINUTE_MS, countMax: perHourMax },
  ];

  /** How many milliseconds are left of a window whose limit is reached; else 0. A window begins with its first registration. */
  async function waitMsFor(address: string, { unit, windowMs, countMax }: Limit): Promise<number> {
    const key = `registrations:${unit}:${address}`;
    const endKey = `${key}:end`;
    const count = await counters.add(key, 1, { expiresAfterMs: windowMs });
    if (count === 1) {
      await counters.remove(endKey);
      await counters.add(endKey, clock.now() + windowMs, { expiresAfterMs: windowMs });
    }
    if (count <= countMax) return 0;
    const [endMs = 0] = await counters.read([endKey]);
    const leftMs = endMs - clock.now();
    // Another process may not have stored the end yet.
    return leftMs > 0 && leftMs <= windowMs ? leftMs : windowMs;
  }

  return {
    async admit(clientIp) {
      const address = addressKey(clientIp);
      for (const limit of limits) {
        const waitMs = await waitMsFor(address, limit).catch((error: unknown) => {
          log.warn({ error }, 'counting a registration failed');
          return 0;
        });
        if (waitMs > 0) throw tooManyRegistrations(limit, waitMs);
      }
    },
  };
}

function tooManyRegistrations({ unit, countMax }: Limit, waitMs: number): ServiceError {
  return new ServiceError(
    'rate_limit_exceeded',
    `too many registrations from this address: at most ${countMax} per ${unit}`,
    { details: { retry_after_secs: Math.ceil(waitMs / 1000) } },
  );
}
