import type { AdmissionAnswer, AdmissionRequest, AdmissionStore } from '@model-gateway/billing';
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

export const passed = (answers: readonly AdmissionAnswer[]): number =>
  answers.filter(({ outcome }) => outcome === 'passed').length;
