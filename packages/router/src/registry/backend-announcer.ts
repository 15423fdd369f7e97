import {
  describeError,
  randomToken,
  type Channels,
  type Clock,
  type Entries,
  type Log,
} from '@model-gateway/kernel';
import { CAPABILITIES } from './backend.ts';
import type { BackendConfig } from './backend-config-store.ts';
import { AGENT_CAPABILITIES } from '../agents/agent-registration.ts';
import type { PlacedBackend } from '../agents/agent-store.ts';
import type { CircuitStore } from '../circuits/circuit-store.ts';
import {
  HEALTH_CHANNEL,
  healthKey,
  type HealthMessage,
  type SharedReport,
} from '../health/health-report.ts';
import { fingerprintOf, REGISTRY_CHANNEL } from './registry.ts';

/** Notifies every router of backends that agents, not operators, registered or removed. */
export interface BackendAnnouncer {
  /** `isProbed` if the caller has just probed each of them: then they get requests at once. */
  announce(
    backends: readonly PlacedBackend[],
    options?: { readonly isProbed?: boolean },
  ): Promise<void>;
}

interface BackendAnnouncerDependencies {
  readonly channels: Pick<Channels, 'publish'>;
  readonly entries: Pick<Entries, 'put'>;
  readonly circuits: Pick<CircuitStore, 'remove'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Long enough for every router to read it; afterwards they probe themselves. */
const REPORT_KEPT_MS = 60_000;

export function createBackendAnnouncer(
  dependencies: BackendAnnouncerDependencies,
): BackendAnnouncer {
  const { channels, entries, circuits, clock, log } = dependencies;
  const from = randomToken();

  const publish = (message: HealthMessage): Promise<unknown> =>
    channels.publish(HEALTH_CHANNEL, JSON.stringify(message));

  /** Failures at the old place say nothing about the new one. */
  async function closeCircuit(name: string): Promise<void> {
    await circuits.remove(name);
    await publish({ kind: 'circuit', name, from });
  }

  async function shareHealth(config: BackendConfig): Promise<void> {
    const declared: readonly string[] = config.capabilities ?? AGENT_CAPABILITIES;
    const report: SharedReport = {
      fingerprint: fingerprintOf(config),
      state: 'Healthy',
      checkedAt: clock.now(),
      models: [...config.models],
      capabilities: CAPABILITIES.filter((known) => declared.includes(known)),
      contextLengths: [],
    };
    const expiry = { expiresAfterMs: REPORT_KEPT_MS };
    await entries.put(healthKey(config.name), JSON.stringify(report), expiry);
  }

  return {
    async announce(backends, { isProbed = false } = {}) {
      if (backends.length === 0) return;
      try {
        for (const { name, config } of backends) {
          if (config !== null) await closeCircuit(name);
          if (config !== null && isProbed) await shareHealth(config);
        }
        await channels.publish(REGISTRY_CHANNEL, backends[0]?.name ?? '');
      } catch (error) {
        // Every router reads the store again with the next round of health checks.
        log.warn({ reason: describeError(error) }, 'announcing a change of the backends failed');
      }
    },
  };
}
