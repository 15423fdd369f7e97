import { ServiceError } from '@model-gateway/contracts';
import { EXPECTED_NOTHING, type ExpectedUsage, type Reservation } from '@model-gateway/inference';

/** What the responses of one realtime session reserve while they are generated. */
export interface ResponseReservations {
  /** A response begins, which is expected to use so much. Resolves to the reason why its session must end, or undefined. */
  begin(expected: ExpectedUsage): Promise<string | undefined>;
  /** What the oldest response reserves, which has ended: the caller ends it. Resolves to undefined if it was refused. */
  take(): Promise<Reservation | undefined>;
  /** Resolves as `begin` does, if nothing is left for another response. */
  check(): Promise<string | undefined>;
  endAll(): void;
}

const NOTHING_TAKEN = Promise.resolve(undefined);

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
      return refusalOf(admitting, ['store_unavailable']);
    },
    take: () => responses.shift() ?? NOTHING_TAKEN,
    async check() {
      const admitting = admit(EXPECTED_NOTHING);
      void admitting.then((reservation) => reservation.end()).catch(() => undefined);
      // What others reserve may be left over when the next response begins.
      return refusalOf(admitting, ['store_unavailable', 'quota_reserved']);
    },
    endAll() {
      isOver = true;
      for (const response of responses.splice(0)) {
        void response.then((reservation) => reservation?.end());
      }
    },
  };
}

/** Failures of the stores refuse no response. */
async function refusalOf(
  admitting: Promise<Reservation>,
  exceptFor: readonly ServiceError['code'][],
): Promise<string | undefined> {
  try {
    await admitting;
    return undefined;
  } catch (error) {
    return error instanceof ServiceError && !exceptFor.includes(error.code)
      ? error.message
      : undefined;
  }
}
