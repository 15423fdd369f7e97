import type { UsageEvent } from '@model-gateway/contracts';

const RANDOM_UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const MOMENT =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const isUuid = (value: unknown): boolean => typeof value === 'string' && RANDOM_UUID.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;
const isText = (value: unknown, charsMax: number): boolean =>
  typeof value === 'string' && value.length <= charsMax;
const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isMissingOrCount = (value: unknown): boolean => isAbsent(value) || isCount(value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

type Fields = Readonly<Partial<Record<keyof UsageEvent, unknown>>>;

/**
 * Whether the content of an entry is a usage event as gateways of this version write almost all of them. Otherwise its schema has
 * to say, which takes several times as long.
 */
export function isPlainEvent(value: unknown): value is UsageEvent {
  if (!isObject(value)) return false;
  const event: Fields = value;
  return (
    isUuid(event.id) &&
    isUuid(event.user_id) &&
    (event.key_id === null || isUuid(event.key_id)) &&
    isText(event.api_key_id, 64) &&
    (event.project === null || isText(event.project, 128)) &&
    (event.group_id === null || isUuid(event.group_id)) &&
    isText(event.model, 128) &&
    isText(event.backend, 64) &&
    isCount(event.prompt_tokens) &&
    isCount(event.completion_tokens) &&
    isCount(event.total_tokens) &&
    (event.cost === null || isAmount(event.cost)) &&
    isAmount(event.multiplier) &&
    (event.ref_id === null || isText(event.ref_id, 64)) &&
    (event.call_id === undefined || isText(event.call_id, 64)) &&
    (isAbsent(event.upstream) || isText(event.upstream, 255)) &&
    isMissingOrCount(event.cached_tokens) &&
    isMissingOrCount(event.cache_write_tokens) &&
    (isAbsent(event.media_tokens) || isMedia(event.media_tokens)) &&
    isMissingOrCount(event.images) &&
    (isAbsent(event.audio_seconds) || isAmount(event.audio_seconds)) &&
    (isAbsent(event.price) || isPrice(event.price)) &&
    (isAbsent(event.cached) || typeof event.cached === 'boolean') &&
    isMissingOrCount(event.latency_ms) &&
    isMissingOrCount(event.first_token_ms) &&
    isMissingOrCount(event.status) &&
    (isAbsent(event.request_id) || isText(event.request_id, 128)) &&
    // Few events have some.
    isAbsent(event.attempts) &&
    typeof event.created_at === 'string' &&
    MOMENT.test(event.created_at)
  );
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['pattern', 'backend']);
const NUMBER_FIELDS: ReadonlySet<string> = new Set([
  'input_per_million',
  'output_per_million',
  'cached_input_per_million',
  'cache_write_per_million',
  'audio_input_per_million',
  'audio_output_per_million',
  'cached_audio_input_per_million',
  'image_output_per_million',
  'per_image',
  'per_minute_audio',
  'per_request',
]);
const SOURCES: ReadonlySet<unknown> = new Set([
  'override',
  'file',
  'catalogue',
  'built-in',
  'local',
]);

const MEDIA_FIELDS = ['audio_input', 'cached_audio_input', 'audio_output', 'image_output'] as const;

const isMedia = (value: unknown): boolean =>
  isObject(value) &&
  Object.keys(value).length === MEDIA_FIELDS.length &&
  MEDIA_FIELDS.every((field) => isCount(value[field]));

/** A field that is not known is left out by the schema. */
function isPrice(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const field of Object.keys(value)) {
    const content = value[field];
    const isKnown =
      (NUMBER_FIELDS.has(field) && Number.isFinite(content)) ||
      (TEXT_FIELDS.has(field) && typeof content === 'string') ||
      (field === 'source' && SOURCES.has(content));
    if (!isKnown) return false;
  }
  return 'input_per_million' in value && 'output_per_million' in value && 'source' in value;
}
