import { ATTEMPTS_MAX, type RequestAttempt } from '@model-gateway/contracts';
import { newTimedId } from '@model-gateway/kernel';
import type { ChoiceTrace, SkippedTarget } from '@model-gateway/router';

/** What the request log keeps of a request while it is served. */
export interface RequestTrace extends ChoiceTrace {
  /** The id of its row in the log. */
  readonly id: string;
  /** The id that the client gave the request. */
  readonly clientId: string | undefined;
  /** Undefined for most requests: one backend is tried, and answers. */
  attempts: RequestAttempt[] | undefined;
  /** Whether the log has it. */
  isRecorded: boolean;
  /** Who answered, and how the answer ended; undefined until it is metered. */
  served: ServedAnswer | undefined;
}

/** A metered answer. */
export interface ServedAnswer {
  /** The model as its backend lists it. */
  readonly model: string;
  /** As an HTTP status. */
  readonly status: number;
}

/** Without an id it gets one. */
export const createRequestTrace = (
  id?: string,
  clientId?: string,
  isRepeat = false,
): RequestTrace => ({
  id: id ?? newTimedId(),
  clientId,
  isRepeat,
  attempts: undefined,
  skipped: undefined,
  isRecorded: false,
  served: undefined,
});

const REASON_CHARS_MAX = 200;
const NAME_CHARS_MAX = 255;

/** Adds what became of one backend. The first ones are kept. */
export function addAttempt(trace: RequestTrace, attempt: RequestAttempt): void {
  trace.attempts ??= [];
  if (trace.attempts.length >= ATTEMPTS_MAX) return;
  trace.attempts.push({
    ...attempt,
    backend: attempt.backend.slice(0, NAME_CHARS_MAX),
    model: attempt.model.slice(0, NAME_CHARS_MAX),
    reason: attempt.reason?.slice(0, REASON_CHARS_MAX) ?? null,
  });
}

/** What the log keeps: the backends that were skipped and why, then those that were tried, in order. */
export function attemptsOf({ skipped, attempts = [] }: RequestTrace): RequestAttempt[] | undefined {
  if (skipped === undefined) return attempts.length === 0 ? undefined : attempts;
  return [...skipped.slice(0, ATTEMPTS_MAX - attempts.length).map(skippedAttempt), ...attempts];
}

const skippedAttempt = ({ backend, model, reason }: SkippedTarget): RequestAttempt => ({
  backend: backend.slice(0, NAME_CHARS_MAX),
  model: model.slice(0, NAME_CHARS_MAX),
  outcome: 'skipped',
  reason,
  status: null,
  ms: 0,
});
