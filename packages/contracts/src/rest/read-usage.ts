import { numberOf } from '@model-gateway/kernel';
import type { MediaTokens } from '../media-tokens.ts';
import type { TokenUsage } from './chat.ts';

const REASONING = 'reasoning_tokens';
const AUDIO = 'audio_tokens';
const GEMINI = /gemini/i;
/** Far more than any model reads or generates; the sum of two is stored in 32 bits. */
const REPORTED_TOKENS_MAX = 2 ** 30 - 1;

/**
 * The usage that an upstream reports. Upstreams may omit zeros and totals. Undefined for anything that is not a token
 * count; the request is then billed by an estimate.
 */
export function readUsage(usage: unknown, model?: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const prompt = countOf(Reflect.get(usage, 'prompt_tokens'));
  const completion = countOf(Reflect.get(usage, 'completion_tokens'));
  if (prompt === 'absent' && completion === 'absent') return undefined;
  if (prompt === 'invalid' || completion === 'invalid') return undefined;
  const prompt_tokens = prompt === 'absent' ? 0 : prompt;
  const said = completion === 'absent' ? 0 : completion;
  const total = countOf(Reflect.get(usage, 'total_tokens'));
  const rest =
    typeof total === 'number' && completion !== 'absent' ? total - prompt_tokens - said : 0;
  // Thoughts are part of the completion, except where only the total has them. They are billed alike.
  const completion_tokens = rest > 0 && isThought(usage, rest, model) ? said + rest : said;
  const sum = prompt_tokens + completion_tokens;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: typeof total === 'number' ? total : sum,
  };
}

/** Whether the tokens that only the total has are thoughts: xAI has them in the details, Gemini for clients of OpenAI nowhere. */
function isThought(usage: object, tokens: number, model: unknown): boolean {
  const details = fieldOf(usage, 'completion_tokens_details');
  if (details !== undefined && details !== null)
    return knownCount(fieldOf(details, REASONING)) === tokens;
  return typeof model === 'string' && GEMINI.test(model);
}

/** How many tokens of the prompt an upstream read from its cache, where its usage says so. */
export function readCachedTokens(usage: unknown): number | undefined {
  const details = promptDetails(usage);
  const cached =
    details === undefined
      ? fieldOf(usage, 'prompt_cache_hit_tokens')
      : fieldOf(details, 'cached_tokens');
  return knownCount(cached);
}

/** How many tokens of the prompt an upstream wrote to its cache, where its usage says so. */
export const readCacheWriteTokens = (usage: unknown): number | undefined =>
  knownCount(fieldOf(promptDetails(usage), 'cache_write_tokens'));

/** The tokens that are no text, where a usage names some; in the forms of chat completions, images, transcriptions and realtime. */
export function readMediaTokens(usage: unknown): MediaTokens | undefined {
  const prompt = promptDetails(usage) ?? fieldOf(usage, 'input_token_details');
  const completion =
    fieldOf(usage, 'completion_tokens_details') ??
    fieldOf(usage, 'output_tokens_details') ??
    fieldOf(usage, 'output_token_details');
  const countIn = (details: unknown, name: string): number =>
    knownCount(fieldOf(details, name)) ?? 0;
  const tokens = {
    audio_input: countIn(prompt, AUDIO),
    cached_audio_input: countIn(fieldOf(prompt, 'cached_tokens_details'), AUDIO),
    audio_output: countIn(completion, AUDIO),
    image_output: countIn(completion, 'image_tokens'),
  };
  const { audio_input, audio_output, image_output } = tokens;
  return audio_input + audio_output + image_output === 0 ? undefined : tokens;
}

function promptDetails(usage: unknown): object | undefined {
  const details = fieldOf(usage, 'prompt_tokens_details') ?? fieldOf(usage, 'input_tokens_details');
  return typeof details === 'object' && details !== null ? details : undefined;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

function knownCount(value: unknown): number | undefined {
  const count = countOf(value);
  return typeof count === 'number' ? count : undefined;
}

function countOf(value: unknown): number | 'absent' | 'invalid' {
  if (value === undefined || value === null) return 'absent';
  const count = numberOf(value) ?? -1;
  return Number.isInteger(count) && count >= 0 && count <= REPORTED_TOKENS_MAX ? count : 'invalid';
}
