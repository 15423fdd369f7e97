import type { Cancel } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease } from '@model-gateway/router';
import { addAttempt, type RequestTrace } from '../usage/request-trace.ts';
import { failureKindOf } from './failure-kind.ts';

/** A request whose attempts are noted. */
interface NotedRequest {
  readonly trace?: RequestTrace | undefined;
  readonly signal: Cancel;
}

type Ask<Answer> = (lease: Lease, signal: Cancel) => Promise<Answer>;

/** The failures that were noted when they refused a key: the last one also fails the attempt. */
const refusedKeys = new WeakSet<Error>();
/** When the next key of a lease was tried, by `performance.now()`. */
const nextKeyAt = new WeakMap<Lease, number>();

/** The same call, which notes each refused key of a backend with several keys as an attempt of its own. */
export function withKeyNotes<Answer>(query: NotedRequest, ask: Ask<Answer>): Ask<Answer> {
  if (query.trace === undefined) return ask;
  return (lease, signal) => {
    const observed = lease.backend.observed?.((failure, startedAt) => {
      noteFailure(query, lease, failure, startedAt);
      if (failure instanceof Error) refusedKeys.add(failure);
      nextKeyAt.set(lease, performance.now());
    });
    return ask(observed === undefined ? lease : { ...lease, backend: observed }, signal);
  };
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
    ms: sinceMs(nextKeyAt.get(lease) ?? startedAt),
  });
}

export function noteFailure(
  { trace, signal }: NotedRequest,
  { backend, model }: Lease,
  failure: unknown,
  startedAt: number,
): void {
  if (trace === undefined || (failure instanceof Error && refusedKeys.has(failure))) return;
  addAttempt(trace, {
    backend: backend.name,
    model,
    outcome: signal.aborted ? 'left' : 'failed',
    reason: signal.aborted ? null : failureKindOf(failure, false),
    status: failure instanceof UpstreamFailure ? (failure.status ?? null) : null,
    ms: sinceMs(startedAt),
  });
}
