import { ServiceError } from '@model-gateway/contracts';
import type { Backend, BackendConfig } from '@model-gateway/router';
import type { CreateBackendOptions } from '../kind-definition.ts';
import { backendUrl, isBridgeUrl } from '../transport/upstream-url.ts';
import { registeredKind } from './backend-kind.ts';
import { withDeclaredCapabilities } from './declared-capabilities.ts';
import { withKeys } from './with-keys.ts';

/** Builds the backend that a registration describes; nothing is connected yet. */
export function createBackend(config: BackendConfig, options: CreateBackendOptions): Backend {
  const kind = registeredKind(config.type);
  const url = backendUrl(kind, config.url);
  if (isBridgeUrl(url)) throw new ServiceError('bad_url', 'a bridge URL must be resolved first');
  const [apiKey = config.apiKey, ...otherKeys] = config.apiKeys ?? [];
  const withKey = (key: string | null): Backend => ({
    ...kind.create({ ...config, apiKey: key }, url, options),
    facts: kind.facts,
  });
  const first = withKey(apiKey);
  const backend = otherKeys.length === 0 ? first : withKeys(first, otherKeys.map(withKey));
  return withDeclaredCapabilities(backend, kind, config);
}
