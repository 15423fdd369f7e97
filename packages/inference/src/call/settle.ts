import type { PricedBackend } from '@model-gateway/billing';
import type { TokenUsage } from '@model-gateway/contracts';
import type { KindFacts } from '@model-gateway/router';
import type { Caller } from '../chat/caller.ts';
import { boundedUnits, type BilledUnits } from '../relay/billed-units.ts';
import type { Reservation } from '../quota/reservation.ts';
import type { AttemptOutcome, TrackedAttempt } from '../upstream/upstream-telemetry.ts';
import { boundedUsage } from '../usage/bounded-usage.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestTrace } from '../usage/request-trace.ts';
import { endOf, SERVED_STATUS, type CallEnding } from '../usage/served-status.ts';

/** A call, as far as settling it depends on who made it. */
export interface SettledCall {
  readonly caller: Caller;
  /** Which surface serves it: `gateway`, `rpc`, `realtime` or `video`. */
  readonly surface: string;
  /** As the client named it. */
  readonly model: string;
  readonly refId: string | null;
  /** Ends with the record. */
  readonly reservation?: Reservation | undefined;
  readonly trace?: RequestTrace | undefined;
  /** When it arrived, by `performance.now()`. */
  readonly startedAt?: number | undefined;
}

/** What answered a call. */
export interface AnsweredBy {
  readonly lease: {
    /** As the backend lists it. */
    readonly model: string;
    /** Undefined for a stored answer: no upstream was asked. */
    readonly backend: (PricedBackend & { readonly facts?: KindFacts | undefined }) | undefined;
  };
  /** Undefined where the upstream is not measured by this answer. */
  readonly tracked?: TrackedAttempt | undefined;
}

/** What was seen of an answer until it ended. */
export interface Observed {
  /** What was reported, with an estimate of what was not; undefined when nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  /** What is not priced by tokens; by the billed tokens where it is not reported. */
  readonly unitsOf?: (billed: TokenUsage) => BilledUnits;
  /** Estimates of all of it, which bound what the owner of a GPU node reports; without them nothing is bounded. */
  readonly estimate?: () => TokenUsage;
  readonly estimateUnits?: () => BilledUnits;
  /** When the first content arrived, by `performance.now()`; undefined if the answer is not streamed. */
  readonly firstTokenAt?: number | undefined;
  /** What the trace of the call says besides the usage. */
  readonly outcome?: () => AttemptOutcome;
}

/**
 * Settles a call, however it ended: bills what was served or notes that nothing was, and reports the end of the call to the
 * backend. Resolves to the billed usage when it is recorded.
 */
export function settle(
  call: SettledCall,
  answered: AnsweredBy,
  observed: Observed & { readonly usage: TokenUsage },
  ending: CallEnding,
  meter: Pick<Meter, 'record' | 'failed'>,
): Promise<TokenUsage>;
export function settle(
  call: SettledCall,
  answered: AnsweredBy,
  observed: Observed,
  ending: CallEnding,
  meter: Pick<Meter, 'record' | 'failed'>,
): Promise<TokenUsage | undefined>;
export async function settle(
  { model: requested, ...settled }: SettledCall,
  { lease: { model, backend }, tracked }: AnsweredBy,
  observed: Observed,
  ending: CallEnding,
  meter: Pick<Meter, 'record' | 'failed'>,
): Promise<TokenUsage | undefined> {
  const { caller, surface, refId, reservation, trace, startedAt } = settled;
  const { unitsOf, estimate, estimateUnits, firstTokenAt, outcome } = observed;
  const status = SERVED_STATUS[ending];
  const facts = backend?.facts;
  const usage =
    observed.usage && estimate ? boundedUsage(facts, observed.usage, estimate) : observed.usage;
  let recorded: Promise<void> | undefined;
  if (usage !== undefined) {
    const units = unitsOf?.(usage);
    const bounded = units && estimateUnits ? boundedUnits(facts, units, estimateUnits) : units;
    const served = { caller, model, surface, usage, refId, reservation, trace, startedAt };
    // Before anything is awaited, so that the reservation has ended on its connection when the event is written.
    recorded = meter.record({ ...served, ...bounded, upstream: backend, status, firstTokenAt });
  } else if (ending !== 'complete') {
    const failed = { caller, surface, model: requested, refId, trace, startedAt, status };
    meter.failed({ ...failed, ...endOf(status) });
  }
  if (ending === 'complete') tracked?.end(() => ({ ...outcome?.(), usage }));
  else tracked?.leave();
  await recorded;
  return usage;
}
