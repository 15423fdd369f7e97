import type { BackendConfig } from '@model-gateway/router';
import { bridgeTarget } from '../bridge/resolve-bridge.ts';
import { backendUrl, isBridgeUrl } from '../transport/upstream-url.ts';
import { registeredKind } from './backend-kind.ts';
import { assertCapabilities, assertOptions } from './declared-capabilities.ts';

/** Refuses a new registration that its kind cannot have; nothing is connected. */
export function assertRegistration(config: BackendConfig): void {
  const kind = registeredKind(config.type);
  assertCapabilities(kind, config.capabilities);
  assertOptions(kind, config);
  const url = backendUrl(kind, config.url);
  if (isBridgeUrl(url)) bridgeTarget(url);
  kind.assertComplete?.(config);
}
