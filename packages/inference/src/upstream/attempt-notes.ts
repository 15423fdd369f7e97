import type { Cancel } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease } from '@model-gateway/router';
import { addAttempt, type RequestTrace } from '../usage/request-trace.ts';
import { failureKindOf } from './failure-kind.ts';

/** A request whose attempts are noted. */
interface NotedRequest {
  readonly trace?: RequestTrace | undefined;
  readonly signal: Cancel;
}

export const sinceMs = (startedAt: number): number =>
  Math.max(0, Math.round(performance.now() - startedAt));

/** An answer of the only backend that was considered is in the row of the request. */
export function noteAnswer(trace: RequestTrace, lease: Lease, startedAt: number): void {
  if (trace.attempts === undefined && trace.skipped === undefined) return;
  addAttempt(trace, {
    backend: lease.backend.name,
    model: lease.model,
    outcome: 'answered',
    reason: null,
    status: null,
    ms: sinceMs(startedAt),
  });
}

export function noteFailure(
  { trace, signal }: NotedRequest,
  { backend, model }: Lease,
  failure: unknown,
  startedAt: number,
): void {
  if (trace === undefined) return;
  addAttempt(trace, {
    backend: backend.name,
    model,
    outcome: signal.aborted ? 'left' : 'failed',
    reason: signal.aborted ? null : failureKindOf(failure, false),
    status: failure instanceof UpstreamFailure ? (failure.status ?? null) : null,
    ms: sinceMs(startedAt),
  });
}
