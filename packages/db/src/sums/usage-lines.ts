import type { SettledRow } from '@model-gateway/billing';
import type { FailedRequest } from '@model-gateway/contracts';
import { exactUsd } from '../usage/exact-usd.ts';

/** What is added up. */
export interface LineSums {
  /** Requests that were served, also in part. */
  requests: number;
  /** Of these, those that ended with an error; a client that stops is none. */
  errors: number;
  /** Of these, those that their clients stopped. */
  cancelled: number;
  /** Requests that were not served. */
  failed: number;
  /** Of these, those that their clients stopped. */
  failedCancelled: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  totalTokens: number;
  points: number;
  /** In USD, exact. */
  cost: bigint;
}

/** What rows that are alike add to the kept sums. */
export interface UsageLine extends LineSums {
  /** The first moment of the hour. */
  readonly hour: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly groupId: string | null;
  readonly project: string;
  readonly model: string;
  readonly upstream: string;
  readonly surface: string;
  readonly refId: string | null;
  /** Whether the tier pays for the rows, and not points. */
  readonly isOfTier: boolean;
}

type LineHead = Omit<UsageLine, keyof LineSums>;

const HOUR_CHARS = 'YYYY-MM-DDTHH'.length;
const ERROR_MIN = 400;
const CANCELLED = 499;
// No text of a row has it.
const BETWEEN = '\u0000';

export const noSums = (): LineSums => ({
  requests: 0,
  errors: 0,
  cancelled: 0,
  failed: 0,
  failedCancelled: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  totalTokens: 0,
  points: 0,
  cost: 0n,
});

export function addSums(sums: LineSums, more: LineSums): void {
  sums.requests += more.requests;
  sums.errors += more.errors;
  sums.cancelled += more.cancelled;
  sums.failed += more.failed;
  sums.failedCancelled += more.failedCancelled;
  sums.promptTokens += more.promptTokens;
  sums.completionTokens += more.completionTokens;
  sums.cachedTokens += more.cachedTokens;
  sums.totalTokens += more.totalTokens;
  sums.points += more.points;
  sums.cost += more.cost;
}

/** Adds up served requests that differ in nothing that the kept sums tell apart. */
export function linesOfRows(rows: readonly SettledRow[]): readonly UsageLine[] {
  const lines = new Map<string, UsageLine>();
  for (const { event, points } of rows) {
    const line = lineFor(lines, {
      hour: hourOf(event.created_at),
      userId: event.user_id,
      keyId: event.key_id,
      groupId: event.group_id,
      project: event.project ?? '',
      model: event.model,
      upstream: event.upstream ?? '',
      surface: event.backend,
      refId: event.ref_id,
      isOfTier: points === null,
    });
    const status = event.status ?? 0;
    line.requests += 1;
    if (status === CANCELLED) line.cancelled += 1;
    else if (status >= ERROR_MIN) line.errors += 1;
    line.promptTokens += event.prompt_tokens;
    line.completionTokens += event.completion_tokens;
    line.cachedTokens += event.cached_tokens ?? 0;
    line.totalTokens += event.total_tokens;
    line.points += points ?? 0;
    if (event.cost !== null) line.cost += exactUsd(event.cost);
  }
  return [...lines.values()];
}

/** The same of requests that were not served. References have only served ones. */
export function linesOfFailures(failures: readonly FailedRequest[]): readonly UsageLine[] {
  const lines = new Map<string, UsageLine>();
  for (const failure of failures) {
    const line = lineFor(lines, {
      hour: hourOf(failure.createdAt.toISOString()),
      userId: failure.userId,
      keyId: failure.keyId,
      groupId: failure.groupId,
      project: failure.project ?? '',
      model: failure.countedModel,
      upstream: failure.upstream ?? '',
      surface: failure.backend,
      refId: null,
      isOfTier: false,
    });
    line.failed += failure.repeats;
    if (failure.status === CANCELLED) line.failedCancelled += failure.repeats;
  }
  return [...lines.values()];
}

const hourOf = (time: string): string => `${time.slice(0, HOUR_CHARS)}:00:00Z`;

function lineFor(lines: Map<string, UsageLine>, head: LineHead): UsageLine {
  const key = keyOf(head);
  let line = lines.get(key);
  if (line === undefined) {
    line = { ...head, ...noSums() };
    lines.set(key, line);
  }
  return line;
}

const keyOf = (head: LineHead): string =>
  head.hour +
  head.userId +
  (head.keyId ?? '') +
  BETWEEN +
  (head.groupId ?? '') +
  BETWEEN +
  head.project +
  BETWEEN +
  head.model +
  BETWEEN +
  head.upstream +
  BETWEEN +
  head.surface +
  BETWEEN +
  (head.refId === null ? '' : BETWEEN + head.refId) +
  BETWEEN +
  (head.isOfTier ? 't' : 'p');
