import type { BackendConfig } from '@model-gateway/router';
import { assertDeployments } from '../azure/azure-backend.ts';
import { bridgeTarget } from '../bridge/resolve-bridge.ts';
import { backendUrl, isBridgeUrl } from '../transport/upstream-url.ts';
import { registeredKind } from './backend-kind.ts';
import {
  assertApiKeys,
  assertAuthHeader,
  assertCapabilities,
  assertDialects,
} from './declared-capabilities.ts';

/** Refuses a new registration that its kind cannot have; nothing is connected. */
export function assertRegistration(config: BackendConfig): void {
  const kind = registeredKind(config.type);
  assertCapabilities(kind, config.capabilities);
  assertAuthHeader(kind, config.authHeader);
  assertApiKeys(kind, config.apiKeys);
  assertDialects(kind, config.dialects);
  const url = backendUrl(kind, config.url);
  if (isBridgeUrl(url)) bridgeTarget(url);
  if (kind === 'azure') assertDeployments(config.models);
}
