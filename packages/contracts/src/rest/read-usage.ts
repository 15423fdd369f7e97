import type { TokenUsage } from './chat.ts';

/**
 * The usage that an upstream reports. Upstreams may omit zeros and totals. Undefined for anything that is not a token
 * count; the request is then billed by an estimate.
 */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const prompt = countOf(Reflect.get(usage, 'prompt_tokens'));
  const completion = countOf(Reflect.get(usage, 'completion_tokens'));
  if (prompt === 'absent' && completion === 'absent') return undefined;
  if (prompt === 'invalid' || completion === 'invalid') return undefined;
  const prompt_tokens = prompt === 'absent' ? 0 : prompt;
  const completion_tokens = completion === 'absent' ? 0 : completion;
  const total = countOf(Reflect.get(usage, 'total_tokens'));
  const sum = prompt_tokens + completion_tokens;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: typeof total === 'number' ? total : sum,
  };
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
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 'invalid';
}
