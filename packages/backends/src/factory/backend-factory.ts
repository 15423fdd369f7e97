import type { Log } from '@model-gateway/kernel';
import type { Backend, BackendConfig } from '@model-gateway/router';
import { assertRegistration } from './assert-registration.ts';
import { registeredKind } from './backend-kind.ts';
import { createBridgedBackend, type BridgedBackend } from '../bridge/bridged-backend.ts';
import { bridgeTarget, resolveBridge } from '../bridge/resolve-bridge.ts';
import type { CreateBackendOptions } from '../kind-definition.ts';
import { createBackend } from './create-backend.ts';
import { backendUrl, isBridgeUrl } from '../transport/upstream-url.ts';

/** Builds backends, also those behind the bridge. Closing a backend ends everything that was started for it. */
export interface BackendFactory {
  /** For a new registration: rejects with `bridge_unreachable` when its bridge URL cannot be resolved now. */
  open(config: BackendConfig): Promise<Backend>;
  /** For one that was registered before: while its bridge is unavailable it is Unhealthy and keeps trying. */
  restore(config: BackendConfig): Backend;
}

interface BackendFactoryOptions extends CreateBackendOptions {
  /** The local bridge agent. */
  readonly bridgeUrl: string;
  readonly log: Log;
  /** Called when a backend has moved to a new local port and should be probed at once. */
  readonly onMoved: (name: string) => void;
  /** How often tunnels are checked. */
  readonly keepaliveMs?: number;
}

const KEEPALIVE_MS = 15_000;

export function createBackendFactory(options: BackendFactoryOptions): BackendFactory {
  const { bridgeUrl, log, onMoved, timeouts } = options;

  function bridged(config: BackendConfig): BridgedBackend | undefined {
    const kind = registeredKind(config.type);
    const url = backendUrl(kind, config.url);
    if (!isBridgeUrl(url)) return undefined;
    const target = bridgeTarget(url);
    const [scheme = ''] = kind.schemes;
    return createBridgedBackend({
      name: config.name,
      kind: kind.name,
      facts: kind.facts,
      resolve: () => resolveBridge(target, { bridgeUrl, timeoutMs: timeouts.connectMs }),
      build: (port) => createBackend({ ...config, url: `${scheme}//127.0.0.1:${port}` }, options),
      keepaliveMs: options.keepaliveMs ?? KEEPALIVE_MS,
      log,
      onMoved,
    });
  }

  return {
    async open(config) {
      assertRegistration(config);
      const behind = bridged(config);
      if (behind === undefined) return createBackend(config, options);
      await behind.connect();
      return behind.backend;
    },
    restore(config) {
      const behind = bridged(config);
      if (behind === undefined) return createBackend(config, options);
      behind.connectLater();
      return behind.backend;
    },
  };
}
