import { createBackend, type UpstreamTimeouts } from '@model-gateway/backends';
import type { Channels, Clock, Log, Subscription } from '@model-gateway/kernel';
import type { BackendConfig, BackendConfigStore, Router } from '@model-gateway/router';

/** Keeps the router's backends in step with what operators registered, here and on other replicas. */
export interface BackendRegistry {
  /** Registers and probes a backend now; keeping it is best effort and never fails the registration. */
  register(config: BackendConfig): Promise<{ readonly index: number }>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface RegistryDependencies {
  readonly router: Router;
  readonly store: BackendConfigStore;
  readonly channels: Channels;
  readonly timeouts: UpstreamTimeouts;
  readonly clock: Clock;
  readonly log: Log;
  /** Backends that are served but neither kept nor listed. */
  readonly unlisted: readonly BackendConfig[];
}

const REGISTRY_CHANNEL = 'registry';

export function createBackendRegistry(dependencies: RegistryDependencies): BackendRegistry {
  const { router, store, channels, timeouts, clock, log, unlisted } = dependencies;
  const known = new Map<string, string>();
  let subscription: Subscription | undefined;

  async function adopt(config: BackendConfig, listed: boolean): Promise<void> {
    const backend = createBackend(config, { timeouts, clock });
    known.set(config.name, JSON.stringify(config));
    await router.register(backend, { listed });
  }

  /** Takes in what was registered elsewhere; what cannot be read now stays as it was. */
  async function restore(): Promise<void> {
    try {
      for (const config of await store.list()) {
        if (known.get(config.name) === JSON.stringify(config)) continue;
        await adopt(config, true);
        void router.probe(config.name);
      }
    } catch (error) {
      log.error({ error }, 'the registered backends could not be read');
    }
  }

  async function keep(config: BackendConfig): Promise<void> {
    try {
      await store.save(config);
      await channels.publish(REGISTRY_CHANNEL, config.name);
    } catch (error) {
      log.error({ error, backend: config.name }, 'a backend could not be kept');
    }
  }

  return {
    async register(config) {
      await adopt(config, true);
      await Promise.all([router.probe(config.name), keep(config)]);
      return { index: router.list().findIndex(({ backend }) => backend.name === config.name) };
    },
    async start() {
      subscription = await channels.subscribe(REGISTRY_CHANNEL, () => void restore());
      await restore();
      for (const config of unlisted) {
        await adopt(config, false);
        await router.probe(config.name);
      }
    },
    async stop() {
      await subscription?.close();
      await router.close();
    },
  };
}
