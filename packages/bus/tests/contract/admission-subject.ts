import type {
  AdmissionAnswer,
  AdmissionRequest,
  AdmissionStore,
  ReservationEnd,
  DrawingAccount,
  ReservationRequest,
  RequestedAmounts,
  ReservedAmounts,
} from '@model-gateway/billing';
import type { Counters } from '@model-gateway/kernel';

/** An admission store, the counters beside it, and time that passes for what it has counted. */
export interface AdmissionSubject {
  readonly admission: AdmissionStore;
  readonly counters: Counters;
  readonly passTime: (milliseconds: number) => Promise<void>;
  /** The keys of calls and reservations that are left in a shared store, once nothing is pending. */
  readonly leftOver: () => Promise<readonly string[]>;
}

/** Makes a test of one subject. */
export type On = (body: (subject: AdmissionSubject) => Promise<void>) => () => Promise<void>;

export const KEY = { name: 'key:a', requestsPerMinute: 10 };
const MONTH = new Date().toISOString().slice(0, 7);
export const WINDOW = { userId: 'user', month: MONTH };
export const ACCOUNT = { type: 'user', id: 'user' } as const;

export const request = (values: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  knownEpoch: 0,
  limits: [],
  ...values,
});

export const admittedCount = (answers: readonly AdmissionAnswer[]): number =>
  answers.filter(({ outcome }) => outcome === 'admitted').length;

const TIER = { monthlyUsdQuota: 1, monthlyTokenQuota: 100 };
export const NONE = { tokens: 0, costUsd: 0, points: 0 };

export type Amounts = Partial<
  ReservedAmounts & Pick<RequestedAmounts, 'tier' | 'isPriced' | 'key'>
>;

export const callOf = (
  id: string,
  values: Partial<ReservationRequest> = {},
): ReservationRequest => ({
  id,
  userId: 'user',
  callsMax: 500,
  ...values,
});

/** After this time a call that was not ended ends by itself. */
export const CALL_KEPT_MS = 15 * 60_000;

/** The end of a call with its reservation. */
export const end = (id: string, what: Partial<ReservationEnd> = {}): ReservationEnd => ({
  id,
  userId: 'user',
  endsCall: true,
  endsReservation: true,
  ...what,
});

/** A request with a call that reserves amounts. */
export const reserving = (id: string, amounts: Amounts, account: DrawingAccount = ACCOUNT) =>
  request({
    window: WINDOW,
    account,
    call: callOf(id, {
      reservation: { ...NONE, tier: TIER, isPriced: true, account, ...amounts },
    }),
  });
