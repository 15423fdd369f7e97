import type { Clock } from '@model-gateway/kernel';
import type { AgentCounter, AgentCounts } from '@model-gateway/router';
import type { RequestCounter } from './request-counter.ts';

/** How much is going on in the installation. */
export interface SystemStatus extends AgentCounts {
  readonly requestsTotal: number;
  readonly requestsPerMinute: number;
  /** Of the process that answers. */
  readonly uptimeSecs: number;
}

/** Tells the status to anyone who asks, however often. */
export interface SystemMonitor {
  read(): Promise<SystemStatus>;
}

interface SystemMonitorDependencies {
  readonly agents: AgentCounter;
  readonly requests: Pick<RequestCounter, 'read'>;
  readonly clock: Clock;
  /** After so long without a heartbeat an agent is offline. */
  readonly agentTimeoutMs: number;
}

const CACHED_MS = 1_000;

/** Asks the stores at most once a second, whoever calls; it counts the uptime from its creation. */
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
        // A failure is not remembered: the next caller asks again.
        reading.counts.catch(() => {
          if (cached === reading) cached = undefined;
        });
      }
      const counts = await cached.counts;
      return { ...counts, uptimeSecs: Math.floor((now - startedAt) / 1000) };
    },
  };
}
