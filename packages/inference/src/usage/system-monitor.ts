import type { Clock } from '@model-gateway/kernel';
import type { AgentCounter, AgentCounts } from '@model-gateway/router';
import type { RequestCounter } from './request-counter.ts';

/** The current load of the installation. */
export interface SystemStatus extends AgentCounts {
  readonly requestsTotal: number;
  readonly requestsPerMinute: number;
  /** Of this process. */
  readonly uptimeSecs: number;
}

/** Reads the status; cheap enough for frequent calls. */
export interface SystemMonitor {
  read(): Promise<SystemStatus>;
}

interface SystemMonitorDependencies {
  readonly agents: AgentCounter;
  readonly requests: Pick<RequestCounter, 'read'>;
  readonly clock: Clock;
  /** How long after its last heartbeat an agent counts as offline. */
  readonly agentTimeoutMs: number;
}

const CACHED_MS = 1_000;

/** Reads the stores at most once a second; the uptime begins when this is created. */
export function createSystemMonitor({
  agents,
  requests,
  clock,
  agentTimeoutMs,
}: SystemMonitorDependencies): SystemMonitor {
  const startedAt = clock.now();
  let cached:
    | { readonly readAt: number; readonly counts: ReturnType<typeof readCounts> }
    | undefined;

  async function readCounts(): Promise<Omit<SystemStatus, 'uptimeSecs'>> {
    const [counts, { total, perMinute }] = await Promise.all([
      agents.count({ heartbeatSince: new Date(clock.now() - agentTimeoutMs) }),
      requests.read(),
    ]);
    return { ...counts, requestsTotal: total, requestsPerMinute: perMinute };
  }

  return {
    async read() {
      const now = clock.now();
      if (cached === undefined || now - cached.readAt >= CACHED_MS) {
        const reading = { readAt: now, counts: readCounts() };
        cached = reading;
        // A failure is not cached: the next call reads again.
        reading.counts.catch(() => {
          if (cached === reading) cached = undefined;
        });
      }
      const counts = await cached.counts;
      return { ...counts, uptimeSecs: Math.floor((now - startedAt) / 1000) };
    },
  };
}
