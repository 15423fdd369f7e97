import type { RequestLimit } from '@model-gateway/billing';
import type { Caller } from '../chat/caller.ts';
import type { Payer } from '../quota/payer.ts';
import type { Reservation } from '../quota/reservation.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { RequestTrace } from '../usage/request-trace.ts';

/** What a caller may do, as it was known after a number of account changes. */
export interface Grant {
  /** That number; undefined for a caller whose rights are read for each call. */
  readonly epoch: number | undefined;
  readonly caller: Caller;
  readonly payer: Payer;
  /** Over all processes. */
  readonly limits: readonly CallLimit[];
  /** How old a stored answer may be; null: the caller has no cache. */
  readonly cacheTtlSecs: number | null;
  /** Whether bodies are kept in the request log; null: as the service says. */
  readonly logsBodies: boolean | null;
}

/** A limit of requests per minute, and who sets it. */
export interface CallLimit extends RequestLimit {
  readonly setBy: 'key' | 'tier' | 'group';
}

/** Who makes calls: a secret, a sign-in, the key of a session. What it may do can change from call to call. */
export interface Identity {
  /** Looks the rights up again if they must be newer than those of an epoch. Rejects when there are none any more. */
  grant(newerThan?: number): Promise<Grant>;
}

/** Where a call comes from: everything that a surface knows of it. */
export interface CallContext {
  /** `gateway`, `rpc`, `realtime` or `video`. */
  readonly surface: string;
  readonly identity: Identity;
  /** The reference to which its usage is attributed; throws if that is not valid. */
  readonly refId: string | null;
  /** When it arrived, by `performance.now()`. */
  readonly startedAt: number;
  readonly log: CallLog;
}

/** What the request log keeps of a call; nothing before its caller is known. */
export interface CallLog {
  caller: Caller | undefined;
  trace: RequestTrace | undefined;
  /** As the client named it. */
  model: string | undefined;
}

/** The models that a body names. */
export interface NamedModels {
  readonly model: string;
  /** Tried in this order when the model cannot answer. */
  readonly models?: readonly string[] | null | undefined;
}

/** A call that may be routed: its caller, limits, body and quota have been checked, in this order. */
export interface AdmittedCall<Body> {
  readonly grant: Grant;
  readonly caller: Caller;
  readonly body: Body;
  /** What the alias of its model stands for: resolved once, so that the model that was checked is the one that serves. */
  readonly resolvedModel: string;
  /** Models that may be tried when this one cannot answer. */
  readonly fallbacks: readonly FallbackModel[];
  /** The receiver ends it when the call is over. */
  readonly reservation: Reservation;
}
