import type {
  AdmissionStore,
  ReservationEnd,
  ReservationRequest,
  ReservedAmounts,
} from '@model-gateway/billing';
import { namedChoices, namedTokens, type ChatRequest } from '@model-gateway/contracts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { Renewable, Renewal, Renewals } from './renewals.ts';
import { RECALLED_TOKENS_MAX } from '../memory/recall-message.ts';
import { estimatePrompt } from '../usage/estimate-usage.ts';

/** A request in flight, and what it reserves. Ending it waits for nothing, never fails, and can be repeated. */
export interface Reservation {
  readonly id: string;
  /** Whether it holds a part of a quota. */
  readonly isHolding: boolean;
  /** The request is over. What it has used counts until it is settled, under the id of the reservation. */
  end(usage?: UsedByRequest): void;
  /** The call reserves more from now on. */
  extend(request: ReservationRequest): void;
  /** The call is over and its job goes on: what it reserved stays until `jobEnd` of this id, or until it expires. */
  endCall(): void;
}

/** What a request has used. */
export interface UsedByRequest {
  readonly tokens: number;
  /** Null when the model has no price. */
  readonly costUsd: number | null;
}

/** What a request is expected to use. */
export interface ExpectedUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly images?: number | undefined;
  readonly audioSeconds?: number | undefined;
  /** USD, where it does not follow from the tokens. */
  readonly costUsd?: number;
}

/** A request that is to be admitted. */
export interface RequestedAdmission {
  /** The target of its alias; null for video, which always has a price. */
  readonly model: string | null;
  /** The model as the request names it, where that may be another id: a route may have either. */
  readonly requested?: string | undefined;
  /** Other models that may answer. */
  readonly fallbacks?: readonly FallbackModel[] | undefined;
  /** Called only if a quota can refuse the request. */
  readonly expected: () => ExpectedUsage;
  /** The id of the job that the request creates, if any. */
  readonly jobId?: string;
  /** The id of a call of this request that has begun, if any. */
  readonly callId?: string;
  /** Whether the request costs nothing: then no quota refuses it, and it reserves nothing. */
  readonly isFree?: boolean;
}

const ANY_EPOCH = { knownEpoch: Number.MAX_SAFE_INTEGER };
/** Of a request that names no maximum. */
export const COMPLETION_TOKENS_DEFAULT = 256;

/** What a chat request is expected to use, with the memories that may be recalled for it. */
export const expectedChat = (
  request: ChatRequest,
  memory?: { readonly isConfigured: boolean },
): ExpectedUsage => ({
  promptTokens:
    estimatePrompt(request) +
    (memory?.isConfigured === true && request.memory !== false ? RECALLED_TOKENS_MAX : 0),
  completionTokens: completionTokensOf(request),
});

export const EXPECTED_NOTHING: ExpectedUsage = { promptTokens: 0, completionTokens: 0 };

/** A request that counts in the limits of requests and calls alone. */
export const FREE_ADMISSION: RequestedAdmission = {
  model: null,
  expected: () => EXPECTED_NOTHING,
  isFree: true,
};

/** The end of a job that its call left running. */
export const jobEnd = (job: { readonly id: string; readonly userId: string }): ReservationEnd => ({
  id: job.id,
  userId: job.userId,
  endsCall: false,
  endsReservation: true,
});

interface ReservationOptions {
  readonly pointsOf: (costUsd: number) => number;
  readonly store: Pick<AdmissionStore, 'admit' | 'endCall'>;
  readonly renewals: Pick<Renewals, 'add' | 'remove'>;
}

/** A reservation that began. It is renewed until it ends. */
export function createReservation(
  request: ReservationRequest,
  options: ReservationOptions,
): Reservation {
  return new BegunReservation(request, options);
}

// A class, because every request has one: closures would cost more.
class BegunReservation implements Reservation, Renewable {
  #request: ReservationRequest;
  readonly #options: ReservationOptions;
  readonly #renewal: Renewal;
  #hasEnded = false;
  #endsReservation = false;

  constructor(request: ReservationRequest, options: ReservationOptions) {
    this.#request = request;
    this.#options = options;
    this.#renewal = options.renewals.add(this);
  }

  get id(): string {
    return this.#request.id;
  }

  get isHolding(): boolean {
    return this.#request.reservation !== undefined;
  }

  end(used?: UsedByRequest): void {
    if (used === undefined || !this.isHolding) return this.#finish(true, undefined);
    const costUsd = used.costUsd ?? 0;
    const points = this.#options.pointsOf(costUsd);
    return this.#finish(true, { tokens: used.tokens, costUsd, points });
  }

  extend(request: ReservationRequest): void {
    this.#request = request;
  }

  endCall(): void {
    this.#finish(false, undefined);
  }

  renew(): void {
    // Renewed with its reservation, because the store may have lost it.
    const call = withoutLimits(this.#request);
    const renewing = this.#options.store.admit({ ...ANY_EPOCH, limits: [], call, renews: true });
    // A call that cannot be renewed expires. A call that ended meanwhile may have begun again by the renewal, even if that
    // failed.
    renewing
      .catch(() => undefined)
      .then(
        () => this.#hasEnded && this.#endAgain(),
        () => undefined,
      );
  }

  #endAgain(): void {
    const { id, userId } = this.#request;
    const endsReservation = this.#endsReservation;
    this.#options.store.endCall({ id, userId, endsCall: true, endsReservation });
  }

  #finish(endsReservation: boolean, usage: ReservedAmounts | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#endsReservation = endsReservation;
    const { id, userId, reservation } = this.#request;
    const { store, renewals } = this.#options;
    renewals.remove(this.#renewal);
    const keyId = reservation?.key?.id;
    store.endCall({ id, userId, endsCall: true, endsReservation, usage, keyId });
  }
}

/** The call with what it reserves, which no quota and no limit of its key refuses. */
export function withoutLimits(request: ReservationRequest): ReservationRequest {
  const { reservation } = request;
  if (reservation === undefined) return request;
  const key = reservation.key && { ...reservation.key, budgetUsd: null, tokensPerMinute: null };
  const tier = { monthlyUsdQuota: null, monthlyTokenQuota: null };
  return { ...request, reservation: { ...reservation, tier, key } };
}

/** As much as the request names by any name, for each choice: upstreams differ in which field they read. */
function completionTokensOf(request: ChatRequest): number {
  const { extra, options } = request;
  const tokens = namedTokens(request, extra, options) ?? COMPLETION_TOKENS_DEFAULT;
  return tokens * namedChoices(request, extra, options);
}
