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
  if (typeof usage !== 'object' || usage === null) return undefined;
  const details: unknown =
    Reflect.get(usage, 'prompt_tokens_details') ?? Reflect.get(usage, 'input_tokens_details');
  const cached: unknown =
    typeof details === 'object' && details !== null
      ? Reflect.get(details, 'cached_tokens')
      : Reflect.get(usage, 'prompt_cache_hit_tokens');
  const count = countOf(cached);
  return typeof count === 'number' ? count : undefined;
}

function countOf(value: unknown): number | 'absent' | 'invalid' {
  if (value === undefined || value === null) return 'absent';
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 'invalid';
}
