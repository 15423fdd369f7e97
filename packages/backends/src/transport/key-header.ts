import type { BackendConfig } from '@model-gateway/router';

const DEFAULT = 'authorization: Bearer';

/** The header that carries the key of an upstream; none without a key. */
export function keyHeader({
  apiKey,
  authHeader = DEFAULT,
}: Pick<BackendConfig, 'apiKey' | 'authHeader'>): Readonly<Record<string, string>> {
  if (apiKey === null) return {};
  const [name = '', scheme = ''] = authHeader.split(':', 2).map((part) => part.trim());
  return { [name.toLowerCase()]: scheme === '' ? apiKey : `${scheme} ${apiKey}` };
}
