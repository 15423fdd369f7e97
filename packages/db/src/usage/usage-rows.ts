import type { SettledRow } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { copyText } from '../connection/copy-rows.ts';
import { Prisma } from '../generated/client.ts';
import { countLines } from './kept-lines.ts';
import { linesOf } from './usage-lines.ts';

const COLUMNS = `
  id, user_id, key_id, group_id, api_key_id, project, model, backend, ref_id,
  prompt_tokens, completion_tokens, total_tokens, cost, created_at, points, account_type,
  upstream, cached_tokens, latency_ms, first_token_ms, status,
  cache_write_tokens, images, audio_seconds, price, cached, media_tokens`;

/** Adds rows that do not exist yet, and counts them in the kept sums. */
export async function addUsageRows(
  queries: RawQueries,
  rows: readonly SettledRow[],
): Promise<void> {
  const { copy } = queries;
  if (copy === undefined) return insertRows(queries, rows);
  for (const [partition, ofPartition] of await byPartition(queries, rows))
    await copy(`COPY ${partition} (${COLUMNS}) FROM STDIN`, ofPartition.map(rowText).join(''));
  await countLines(queries, linesOf(rows));
}

const DEFAULT_PARTITION = 'usage_records_default';

/**
 * The rows by the partition that they belong to. Copied there, they are not counted by the triggers of the whole table, which look
 * at each row several times; what they count is counted for the whole batch at once.
 */
async function byPartition(
  queries: RawQueries,
  rows: readonly SettledRow[],
): Promise<ReadonlyMap<string, readonly SettledRow[]>> {
  // A partition that is attached stays attached until this transaction ends.
  await queries.$executeRaw`LOCK TABLE usage_records IN ROW EXCLUSIVE MODE`;
  const wanted = partitionsOf(rows);
  const attached = await queries.$queryRaw<{ name: string }[]>`
    SELECT child.relname AS name
    FROM pg_inherits JOIN pg_class child ON child.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = 'usage_records'::regclass
      AND child.relname = ANY(${[...wanted]}::text[])`;
  const names = new Set(attached.map(({ name }) => name));
  const targetOf = (name: string): string => (names.has(name) ? name : DEFAULT_PARTITION);
  const [first, ...others] = wanted;
  if (first !== undefined && others.length === 0) return new Map([[targetOf(first), rows]]);
  return groupBy(rows, ({ event }) => targetOf(partitionOf(event)));
}

/** The names of the partitions that rows belong to. Most batches are of one month. */
function partitionsOf(rows: readonly SettledRow[]): ReadonlySet<string> {
  const names = new Set<string>();
  let month: string | undefined;
  for (const { event } of rows) {
    if (month !== undefined && event.created_at.startsWith(month)) continue;
    month = event.created_at.slice(0, MONTH_CHARS);
    names.add(partitionOf(event));
  }
  return names;
}

function groupBy<Value>(
  values: readonly Value[],
  nameOf: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const name = nameOf(value);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [value]);
    else group.push(value);
  }
  return groups;
}

const MONTH_CHARS = 'YYYY-MM'.length;

/** As `usage_records_ensure_partition` names it. */
const partitionOf = ({ created_at }: UsageEvent): string =>
  `usage_records_${created_at.slice(0, MONTH_CHARS).replace('-', '_')}`;

const rowText = ({ event, points, accountType }: SettledRow): string => {
  const fields = [
    event.id,
    event.user_id,
    copyText(event.key_id),
    copyText(event.group_id),
    copyText(event.api_key_id),
    copyText(event.project),
    copyText(event.model),
    copyText(event.backend),
    copyText(event.ref_id),
    event.prompt_tokens,
    event.completion_tokens,
    event.total_tokens,
    copyText(event.cost),
    event.created_at,
    copyText(points),
    copyText(accountType),
    copyText(event.upstream),
    copyText(event.cached_tokens),
    copyText(event.latency_ms),
    copyText(event.first_token_ms),
    copyText(event.status),
    copyText(event.cache_write_tokens),
    copyText(event.images),
    copyText(event.audio_seconds),
    copyText(event.price ? JSON.stringify(event.price) : null),
    copyText(event.cached),
    copyText(event.media_tokens ? JSON.stringify(event.media_tokens) : null),
  ];
  return `${fields.join('\t')}\n`;
};

/** The plain way: triggers count the rows. */
async function insertRows(queries: RawQueries, rows: readonly SettledRow[]): Promise<void> {
  const column = (pick: (event: UsageEvent) => string | number | boolean | null): string =>
    arrayText(rows.map(({ event }) => pick(event)));
  await queries.$executeRaw`
    INSERT INTO usage_records (${Prisma.raw(COLUMNS)})
    SELECT * FROM unnest(
      ${column((event) => event.id)}::uuid[],
      ${column((event) => event.user_id)}::uuid[],
      ${column((event) => event.key_id)}::uuid[],
      ${column((event) => event.group_id)}::uuid[],
      ${column((event) => event.api_key_id)}::text[],
      ${column((event) => event.project)}::text[],
      ${column((event) => event.model)}::text[],
      ${column((event) => event.backend)}::text[],
      ${column((event) => event.ref_id)}::text[],
      ${column((event) => event.prompt_tokens)}::integer[],
      ${column((event) => event.completion_tokens)}::integer[],
      ${column((event) => event.total_tokens)}::integer[],
      ${column((event) => event.cost)}::double precision[],
      ${column((event) => event.created_at)}::timestamptz[],
      ${arrayText(rows.map(({ points }) => points))}::integer[],
      ${arrayText(rows.map(({ accountType }) => accountType))}::text[],
      ${column((event) => event.upstream ?? null)}::text[],
      ${column((event) => event.cached_tokens ?? null)}::integer[],
      ${column((event) => event.latency_ms ?? null)}::integer[],
      ${column((event) => event.first_token_ms ?? null)}::integer[],
      ${column((event) => event.status ?? null)}::integer[],
      ${column((event) => event.cache_write_tokens ?? null)}::integer[],
      ${column((event) => event.images ?? null)}::integer[],
      ${column((event) => event.audio_seconds ?? null)}::double precision[],
      ${column((event) => (event.price ? JSON.stringify(event.price) : null))}::jsonb[],
      ${column((event) => event.cached ?? null)}::boolean[],
      ${column((event) => (event.media_tokens ? JSON.stringify(event.media_tokens) : null))}::jsonb[]
    )`;
}
