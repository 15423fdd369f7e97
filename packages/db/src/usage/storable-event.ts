import type { PriceRecord, UsageEvent } from '@model-gateway/contracts';

// Numbers from an upstream are not trusted: an absurd one must not fail a whole batch.
const COUNT_MAX = 2_147_483_647;
const COST_USD_MAX = 1_000_000_000;

/** The event in a form that the database can store. Field by field: to copy all and replace some takes three times as long. */
export function storable(event: UsageEvent): UsageEvent {
  return {
    id: event.id,
    user_id: event.user_id,
    key_id: event.key_id,
    api_key_id: clean(event.api_key_id),
    project: event.project === null ? null : clean(event.project),
    group_id: event.group_id,
    model: clean(event.model),
    backend: clean(event.backend),
    prompt_tokens: Math.min(event.prompt_tokens, COUNT_MAX),
    completion_tokens: Math.min(event.completion_tokens, COUNT_MAX),
    total_tokens: Math.min(event.total_tokens, COUNT_MAX),
    cost: event.cost === null ? null : Math.min(event.cost, COST_USD_MAX),
    multiplier: event.multiplier,
    ref_id: event.ref_id === null ? null : clean(event.ref_id),
    call_id: event.call_id,
    upstream: typeof event.upstream === 'string' ? clean(event.upstream) : null,
    cached_tokens: bounded(event.cached_tokens),
    cache_write_tokens: bounded(event.cache_write_tokens),
    media_tokens: event.media_tokens,
    images: bounded(event.images),
    audio_seconds: event.audio_seconds,
    price: event.price && storablePrice(event.price),
    cached: event.cached,
    latency_ms: bounded(event.latency_ms),
    first_token_ms: bounded(event.first_token_ms),
    status: bounded(event.status),
    request_id: typeof event.request_id === 'string' ? clean(event.request_id) : null,
    attempts: event.attempts,
    created_at: storedTime(event.created_at),
  } satisfies Required<{ readonly [Field in keyof UsageEvent]: UsageEvent[Field] | undefined }>;
}

// Postgres would round more digits, perhaps to the next hour.
const TIME_CHARS = 'YYYY-MM-DDTHH:MM:SS.mmmmmmZ'.length;

const storedTime = (time: string): string =>
  time.length <= TIME_CHARS ? time : `${time.slice(0, TIME_CHARS - 1)}Z`;

// Postgres rejects the whole batch for one NUL character.
const clean = (value: string): string =>
  value.includes('\u0000') ? value.replaceAll('\u0000', '') : value;

const storablePrice = (price: PriceRecord): PriceRecord =>
  price.backend?.includes('\u0000') === true ? { ...price, backend: clean(price.backend) } : price;

/** Events of earlier versions do not have it. */
const bounded = (count: number | null | undefined): number | null =>
  typeof count === 'number' ? Math.min(count, COUNT_MAX) : null;
