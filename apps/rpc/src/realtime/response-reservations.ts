import { ServiceError, type ErrorCode } from '@model-gateway/contracts';
import { EXPECTED_NOTHING, type ExpectedUsage, type Reservation } from '@model-gateway/inference';

/** What the responses of one realtime session reserve while they are generated. */
export interface ResponseReservations {
  /** A response begins, which is expected to use so much. Resolves to the reason why it is refused, or undefined. */
  begin(expected: ExpectedUsage): Promise<ServiceError | undefined>;
  /** What the oldest response reserves, which has ended: the caller ends it. Resolves to undefined if it was refused. */
  take(): Promise<Reservation | undefined>;
  /** Resolves as `begin` does, if nothing is left for another response. */
  check(): Promise<ServiceError | undefined>;
  endAll(): void;
}

const NOTHING_TAKEN = Promise.resolve(undefined);
const LATER_DECIDED: readonly ErrorCode[] = [
  'store_unavailable',
  'internal_error',
  'quota_reserved',
];

type Admit = (expected: ExpectedUsage) => Promise<Reservation>;

export function createResponseReservations(admit: Admit): ResponseReservations {
  /** Oldest first; a refused response has no reservation. */
  const responses: Promise<Reservation | undefined>[] = [];
  let isOver = false;

  return {
    async begin(expected) {
      if (isOver) return undefined;
      const admitting = admit(expected);
      responses.push(admitting.catch(() => undefined));
      return refusalOf(admitting);
    },
    take: () => responses.shift() ?? NOTHING_TAKEN,
    async check() {
      const admitting = admit(EXPECTED_NOTHING);
      void admitting.then((reservation) => reservation.end()).catch(() => undefined);
      const refusal = await refusalOf(admitting);
      // What others reserve may be left over when the next response begins, and the stores may be back.
      return refusal === undefined || LATER_DECIDED.includes(refusal.code) ? undefined : refusal;
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
