import type { SettledRow } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { copyText } from '../connection/copy-rows.ts';
import { Prisma } from '../generated/client.ts';
import { countBudgets } from './budget-usage.ts';
import { countLines, countQuotas } from '../sums/add-to-sums.ts';
import { linesOfRows } from '../sums/usage-lines.ts';

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
  // Inside a transaction of Prisma there is no COPY, and an insert that failed cannot be tried again.
  if (queries.copy === undefined) await insertRows(queries, rows);
  else await queries.copy(`COPY usage_records (${COLUMNS}) FROM STDIN`, rows.map(rowText).join(''));
  const lines = linesOfRows(rows);
  await countQuotas(queries, lines);
  await countLines(queries, lines);
  await countBudgets(queries, lines);
}

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
