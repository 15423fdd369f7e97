import { addressKey } from '@model-gateway/accounts';
import type { AdmissionStore, ReservationRequest } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { describeError, newId, type Log } from '@model-gateway/kernel';
import type { ClientOf } from './client-of.ts';

/** Limits how many event streams and sockets a user may have at a time, or without a user a client address. */
export interface ConnectionPlaces {
  /**
   * Resolves to a function that releases the place and can be called again. Rejects with `rate_limit_exceeded` when the user or
   * the address has as many as allowed. Clients on this machine that use no proxy are not limited.
   */
  take(client: ReturnType<ClientOf>, userId?: string): Promise<() => void>;
  /** Stops renewing the places; those that are not released expire. */
  close(): void;
}

interface ConnectionPlacesDependencies {
  readonly admission: Pick<AdmissionStore, 'admit' | 'endCall'>;
  readonly perAddressMax: number;
  readonly perUserMax: number;
  readonly log: Log;
  readonly renewMs?: number;
}

// The admission store drops what is not renewed for 15 minutes.
const RENEW_MS = 5 * 60_000;
const ANY_EPOCH = Number.MAX_SAFE_INTEGER;

/**
 * The places are calls of their holder in the admission store, which all processes share. This process also counts its own, so
 * that the limit holds here while the store is unavailable and when it has just lost its data.
 */
export function createConnectionPlaces(
  dependencies: ConnectionPlacesDependencies,
): ConnectionPlaces {
  const { admission, perAddressMax, perUserMax, log, renewMs = RENEW_MS } = dependencies;
  const counts = new Map<string, number>();
  const places = new Set<ReservationRequest>();
  const renewing = setInterval(() => {
    for (const place of places) void begin(place, { renews: true });
  }, renewMs).unref();

  /** Whether the store has the place. A failure of the store refuses no client. */
  async function begin(
    place: ReservationRequest,
    { renews }: { readonly renews: boolean },
  ): Promise<boolean> {
    try {
      const request = { knownEpoch: ANY_EPOCH, limits: [], call: place, renews };
      const { outcome } = await admission.admit(request);
      // The place may have been released meanwhile.
      if (outcome !== 'busy' && !places.has(place)) end(place);
      return outcome !== 'busy';
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'counting a connection failed');
      if (!places.has(place)) end(place);
      return true;
    }
  }

  function end({ id, userId }: ReservationRequest): void {
    admission.endCall({ id, userId, endsCall: true, endsReservation: false });
  }

  function addCount(holder: string, change: number): void {
    const count = (counts.get(holder) ?? 0) + change;
    if (count > 0) counts.set(holder, count);
    else counts.delete(holder);
  }

  return {
    async take({ clientIp, isLocalClient }, userId) {
      if (isLocalClient && userId === undefined) return () => undefined;
      const holder =
        userId === undefined ? `address:${addressKey(clientIp)}` : `connections:${userId}`;
      const callsMax = userId === undefined ? perAddressMax : perUserMax;
      const refusal = () => (userId === undefined ? tooMany(callsMax) : tooManyOfUser(callsMax));
      if ((counts.get(holder) ?? 0) >= callsMax) throw refusal();
      const place = { id: newId(), userId: holder, callsMax };
      places.add(place);
      addCount(holder, 1);
      const leave = (): void => {
        if (!places.delete(place)) return;
        addCount(holder, -1);
        end(place);
      };
      if (await begin(place, { renews: false })) return leave;
      leave();
      throw refusal();
    },
    close: () => clearInterval(renewing),
  };
}

const tooMany = (perAddressMax: number): ServiceError =>
  new ServiceError(
    'rate_limit_exceeded',
    `too many event streams and sockets without a token: at most ${perAddressMax} per client address at a time`,
  );

const tooManyOfUser = (perUserMax: number): ServiceError =>
  new ServiceError(
    'rate_limit_exceeded',
    `too many event streams and sockets: at most ${perUserMax} per user at a time`,
  );
