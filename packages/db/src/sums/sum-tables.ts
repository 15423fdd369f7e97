import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { NIL_UUID } from '../connection/nil-uuid.ts';
import { usdText } from '../usage/exact-usd.ts';
import { addSums, noSums, type LineSums, type UsageLine } from './usage-lines.ts';

const DATE_CHARS = 'YYYY-MM-DD'.length;

const DIMENSIONS = {
  user_id: { type: 'uuid', of: ({ userId }: UsageLine) => userId },
  key_id: { type: 'uuid', of: ({ keyId }: UsageLine) => keyId ?? NIL_UUID },
  group_id: { type: 'uuid', of: ({ groupId }: UsageLine) => groupId ?? NIL_UUID },
  project: { type: 'text', of: ({ project }: UsageLine) => project },
  model: { type: 'text', of: ({ model }: UsageLine) => model },
  upstream: { type: 'text', of: ({ upstream }: UsageLine) => upstream },
  surface: { type: 'text', of: ({ surface }: UsageLine) => surface },
  ref_id: { type: 'text', of: ({ refId }: UsageLine) => refId ?? '' },
} as const;
export type DimensionColumn = keyof typeof DIMENSIONS;

export type Grain = 'day' | 'hour';

/** One table of kept sums: a line for each combination of its dimensions that occurred in an hour or a day. */
export interface SumTable {
  readonly name: string;
  readonly grain: Grain;
  readonly dimensions: readonly DimensionColumn[];
}

const ACCOUNT = ['user_id', 'key_id', 'group_id', 'project'] as const;

export type Cut = 'model' | 'account' | 'all';

/** The dimensions of the tables that are by the hour and by the day. Those with the fewest lines come first. */
export const CUTS: Readonly<Record<Cut, readonly DimensionColumn[]>> = {
  model: ['model', 'upstream', 'surface'],
  account: ACCOUNT,
  all: [...ACCOUNT, 'model', 'upstream'],
};
export const CUT_NAMES = Object.keys(CUTS) as readonly Cut[];

export const tableOf = (cut: Cut, grain: Grain): string => `usage_by_${cut}_${grain}`;

export const SUM_TABLES: readonly SumTable[] = [
  ...CUT_NAMES.flatMap((cut) =>
    (['hour', 'day'] as const).map((grain) => ({
      name: tableOf(cut, grain),
      grain,
      dimensions: CUTS[cut],
    })),
  ),
  { name: 'usage_by_ref_day', grain: 'day', dimensions: ['ref_id', 'model', 'surface'] },
];

const SUMS = {
  requests: ({ requests }: LineSums) => requests,
  errors: ({ errors }: LineSums) => errors,
  cancelled: ({ cancelled }: LineSums) => cancelled,
  failed: ({ failed }: LineSums) => failed,
  failed_cancelled: ({ failedCancelled }: LineSums) => failedCancelled,
  prompt_tokens: ({ promptTokens }: LineSums) => promptTokens,
  completion_tokens: ({ completionTokens }: LineSums) => completionTokens,
  cached_tokens: ({ cachedTokens }: LineSums) => cachedTokens,
  total_tokens: ({ totalTokens }: LineSums) => totalTokens,
  points: ({ points }: LineSums) => points,
} as const;
const COUNTS = Object.entries(SUMS);
export const SUM_COLUMNS: readonly string[] = [...Object.keys(SUMS), 'cost'];

/** One line of a table. */
export interface FoldedLine extends LineSums {
  readonly since: string;
  /** In the order of the table's dimensions. */
  readonly values: readonly string[];
}

/** The lines of a table that finer lines add to, in the order of their keys. */
export function foldLines(lines: readonly UsageLine[], table: SumTable): readonly FoldedLine[] {
  const folded = new Map<string, FoldedLine>();
  const columns = table.dimensions.map((name) => DIMENSIONS[name]);
  const isOfRefs = table.dimensions.includes('ref_id');
  for (const line of lines) {
    if (isOfRefs && line.refId === null) continue;
    const since = table.grain === 'hour' ? line.hour : dayOf(line.hour);
    const values = columns.map((column) => column.of(line));
    const key = lineKey(since, values);
    let sum = folded.get(key);
    if (sum === undefined) {
      sum = { since, values, ...noSums() };
      folded.set(key, sum);
    }
    addSums(sum, line);
  }
  return [...folded.entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, line]) => line);
}

/** Names a line in its table. */
export const lineKey = (since: string, values: readonly string[]): string =>
  [since, ...values].join('\u0000');

const dayOf = (hour: string): string => `${hour.slice(0, DATE_CHARS)}T00:00:00Z`;

/** Adds lines to those that a table has. */
export async function addFolded(
  queries: RawQueries,
  table: SumTable,
  lines: readonly FoldedLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const column = (type: string, values: readonly (string | number)[]): Prisma.Sql =>
    Prisma.sql`${arrayText(values)}::${Prisma.raw(type)}[]`;
  const given = [
    column(
      'timestamptz',
      lines.map(({ since }) => since),
    ),
    ...table.dimensions.map((name, index) =>
      column(
        DIMENSIONS[name].type,
        lines.map(({ values }) => values[index] ?? ''),
      ),
    ),
    ...COUNTS.map(([, of]) => column('bigint', lines.map(of))),
    column(
      'numeric',
      lines.map(({ cost }) => usdText(cost)),
    ),
  ];
  const keys = Prisma.raw(['since', ...table.dimensions].join(', '));
  const sums = Prisma.raw(SUM_COLUMNS.join(', '));
  const added = Prisma.raw(
    SUM_COLUMNS.map((sum) => `${sum} = kept.${sum} + EXCLUDED.${sum}`).join(', '),
  );
  await queries.$executeRaw(Prisma.sql`
    INSERT INTO ${Prisma.raw(table.name)} AS kept (${keys}, ${sums})
    SELECT * FROM unnest(${Prisma.join(given)})
    ON CONFLICT (${keys}) DO UPDATE SET ${added}`);
}
