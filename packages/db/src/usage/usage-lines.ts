import type { SettledRow } from '@model-gateway/billing';

/** What rows that are alike add to the kept sums. */
export interface UsageLine {
  /** The first moment of the hour. */
  readonly hour: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly groupId: string | null;
  readonly project: string;
  readonly model: string;
  readonly upstream: string;
  readonly backend: string;
  readonly refId: string | null;
  /** Whether the tier pays for the rows, and not points. */
  readonly isOfTier: boolean;
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  totalTokens: number;
  points: number;
  /** In USD, one by one: Postgres adds them as exact decimals. */
  readonly costs: number[];
}

const HOUR_CHARS = 'YYYY-MM-DDTHH'.length;
const ERROR_MIN = 400;
// No text of a row has it.
const BETWEEN = '\u0000';

/** Adds up rows that differ in nothing that the kept sums tell apart. */
export function linesOf(rows: readonly SettledRow[]): readonly UsageLine[] {
  const lines = new Map<string, UsageLine>();
  for (const row of rows) {
    const key = keyOf(row);
    let line = lines.get(key);
    if (line === undefined) {
      line = emptyLine(row);
      lines.set(key, line);
    }
    addTo(line, row);
  }
  return [...lines.values()];
}

function addTo(line: UsageLine, { event, points }: SettledRow): void {
  line.requests += 1;
  if ((event.status ?? 0) >= ERROR_MIN) line.errors += 1;
  line.promptTokens += event.prompt_tokens;
  line.completionTokens += event.completion_tokens;
  line.cachedTokens += event.cached_tokens ?? 0;
  line.totalTokens += event.total_tokens;
  line.points += points ?? 0;
  if (event.cost !== null) line.costs.push(event.cost);
}

const keyOf = ({ event, points }: SettledRow): string =>
  event.created_at.slice(0, HOUR_CHARS) +
  event.user_id +
  (event.key_id ?? '') +
  BETWEEN +
  (event.group_id ?? '') +
  BETWEEN +
  (event.project ?? '') +
  BETWEEN +
  event.model +
  BETWEEN +
  (event.upstream ?? '') +
  BETWEEN +
  event.backend +
  BETWEEN +
  (event.ref_id === null ? '' : BETWEEN + event.ref_id) +
  BETWEEN +
  (points === null ? 't' : 'p');

const emptyLine = ({ event, points }: SettledRow): UsageLine => ({
  hour: `${event.created_at.slice(0, HOUR_CHARS)}:00:00Z`,
  userId: event.user_id,
  keyId: event.key_id,
  groupId: event.group_id,
  project: event.project ?? '',
  model: event.model,
  upstream: event.upstream ?? '',
  backend: event.backend,
  refId: event.ref_id,
  isOfTier: points === null,
  requests: 0,
  errors: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  totalTokens: 0,
  points: 0,
  costs: [],
});
