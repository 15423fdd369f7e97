import type { SettledRow } from '@model-gateway/billing';
import type { PriceRecord, UsageEvent } from '@model-gateway/contracts';
import { arrayText } from '../connection/array-text.ts';
import type { Queries } from '../connection/connection.ts';

// Numbers from an upstream are not trusted: an absurd one must not fail a whole batch.
const COUNT_MAX = 2_147_483_647;
const COST_USD_MAX = 1_000_000_000;

/** The event in a form that the database can store. */
export function storable(event: UsageEvent): UsageEvent {
  return {
    ...event,
    api_key_id: clean(event.api_key_id),
    project: event.project === null ? null : clean(event.project),
    model: clean(event.model),
    backend: clean(event.backend),
    ref_id: event.ref_id === null ? null : clean(event.ref_id),
    prompt_tokens: Math.min(event.prompt_tokens, COUNT_MAX),
    completion_tokens: Math.min(event.completion_tokens, COUNT_MAX),
    total_tokens: Math.min(event.total_tokens, COUNT_MAX),
    cost: event.cost === null ? null : Math.min(event.cost, COST_USD_MAX),
    upstream: typeof event.upstream === 'string' ? clean(event.upstream) : null,
    cached_tokens: bounded(event.cached_tokens),
    latency_ms: bounded(event.latency_ms),
    first_token_ms: bounded(event.first_token_ms),
    status: bounded(event.status),
    request_id: typeof event.request_id === 'string' ? clean(event.request_id) : null,
    cache_write_tokens: bounded(event.cache_write_tokens),
    images: bounded(event.images),
    price: event.price && storablePrice(event.price),
  };
}

// Postgres rejects the whole batch for one NUL character.
const clean = (value: string): string =>
  value.includes('\u0000') ? value.replaceAll('\u0000', '') : value;

const storablePrice = ({ backend, ...price }: PriceRecord): PriceRecord => ({
  ...price,
  ...(backend !== undefined && { backend: clean(backend) }),
});

/** Events of earlier versions do not have it. */
const bounded = (count: number | null | undefined): number | null =>
  typeof count === 'number' ? Math.min(count, COUNT_MAX) : null;

/** Inserts rows that do not exist yet. */
export async function insertUsageRows(
  queries: Queries,
  rows: readonly SettledRow[],
): Promise<void> {
  const column = (pick: (event: UsageEvent) => string | number | boolean | null): string =>
    arrayText(rows.map(({ event }) => pick(event)));
  await queries.$executeRaw`
    INSERT INTO usage_records (
      id, user_id, key_id, group_id, api_key_id, project, model, backend, ref_id,
      prompt_tokens, completion_tokens, total_tokens, cost, created_at, points, account_type,
      upstream, cached_tokens, latency_ms, first_token_ms, status,
      cache_write_tokens, images, audio_seconds, price, cached
    )
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
      ${column((event) => event.cached ?? null)}::boolean[]
    )`;
}
