import type { ProviderHint } from '@model-gateway/contracts';
import type { Backend } from '../registry/backend.ts';

type Named = Pick<Backend, 'name' | 'kind'>;

/** Whether a hint lets a backend serve the request. Names and kinds are compared without regard to case. */
export function matchesProvider(backend: Named, hint: ProviderHint): boolean {
  if (typeof hint === 'string') return isNamed(backend, hint);
  const { order, only, ignore, allow_fallbacks } = hint;
  if (hasNames(only) && !isAmong(backend, only)) return false;
  if (hasNames(ignore) && isAmong(backend, ignore)) return false;
  return allow_fallbacks !== false || !hasNames(order) || isAmong(backend, order);
}

/** The position of a backend in the order of a hint: the lowest is chosen first. */
export function providerRank(backend: Named, hint: ProviderHint | undefined): number {
  if (hint === undefined || typeof hint === 'string' || !hasNames(hint.order)) return 0;
  const position = hint.order.findIndex((name) => isNamed(backend, name));
  return position === -1 ? hint.order.length : position;
}

/** Whether a request stays with the first backend, whatever happens. */
export const forbidsAnother = (hint: ProviderHint | undefined): boolean =>
  typeof hint === 'object' && hint.allow_fallbacks === false && !hasNames(hint.order);

/** An empty list is as good as none. */
const hasNames = (names: readonly string[] | null | undefined): names is readonly string[] =>
  names !== null && names !== undefined && names.length > 0;

const isAmong = (backend: Named, names: readonly string[]): boolean =>
  names.some((name) => isNamed(backend, name));

function isNamed({ name, kind }: Named, asked: string): boolean {
  const query = asked.toLowerCase();
  return name.toLowerCase() === query || kind.toLowerCase() === query;
}
