import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, type ErrorCode } from '@model-gateway/contracts';
import { EXPECTED_NOTHING, type ExpectedUsage, type Reservation } from '@model-gateway/inference';

/** What the responses of one realtime session reserve while they are generated. */
export interface ResponseReservations {
  /** A response begins, which is expected to use so much. Resolves to the reason why it is refused, or undefined. */
  begin(expected: ExpectedUsage): Promise<ServiceError | undefined>;
  /**
   * Takes the reservation of the oldest response, which has ended; the caller ends the reservation. Undefined if the response
   * was refused.
   */
  take(): Promise<Reservation | undefined>;
  /** Resolves as `begin` does, if nothing is left for another response. */
  check(): Promise<ServiceError | undefined>;
  endAll(): void;
}

/** The usage of a response counts as reserved until it is settled, which takes less than this time. */
const SETTLED_MS = 1_000;
const CHECKS_MAX = 5;
const NOTHING_TAKEN = Promise.resolve(undefined);
const LATER_DECIDED: readonly ErrorCode[] = [
  'store_unavailable',
  'internal_error',
  'quota_reserved',
];

type Admit = (expected: ExpectedUsage) => Promise<Reservation>;

export function createResponseReservations(
  admit: Admit,
  settledMs = SETTLED_MS,
): ResponseReservations {
  /** Oldest first; a refused response has no reservation. */
  const responses: Promise<Reservation | undefined>[] = [];
  let isOver = false;

  function refusalNow(): Promise<ServiceError | undefined> {
    const admitting = admit(EXPECTED_NOTHING);
    void admitting.then((reservation) => reservation.end()).catch(() => undefined);
    return refusalOf(admitting);
  }

  return {
    async begin(expected) {
      if (isOver) return undefined;
      const admitting = admit(expected);
      responses.push(admitting.catch(() => undefined));
      return refusalOf(admitting);
    },
    take: () => responses.shift() ?? NOTHING_TAKEN,
    async check() {
      for (let checks = 1; !isOver; checks += 1) {
        const refusal = await refusalNow();
        // When the next response begins, other requests may have ended and the stores may be available again.
        if (refusal === undefined || !LATER_DECIDED.includes(refusal.code)) return refusal;
        if (refusal.code !== 'quota_reserved' || checks === CHECKS_MAX) return undefined;
        await sleep(settledMs, undefined, { ref: false });
      }
      return undefined;
    },
    endAll() {
      isOver = true;
      for (const response of responses.splice(0)) {
        void response.then((reservation) => reservation?.end());
      }
    },
  };
}

async function refusalOf(admitting: Promise<Reservation>): Promise<ServiceError | undefined> {
  try {
    await admitting;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    return new ServiceError('internal_error', 'the quota could not be checked', { cause: error });
  }
}
