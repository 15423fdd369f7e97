import { integer, setting, withDefault } from '@model-gateway/kernel';

/** Health checks and circuit breakers of backends. */
export const routerSettings = {
  healthIntervalSecs: setting('SERVICE_HEALTH_INTERVAL_SECS', withDefault(integer(1), 60), {
    description: 'How often every backend is probed.',
  }),
  probeTimeoutMs: setting('SERVICE_PROBE_TIMEOUT_MS', withDefault(integer(1), 2000), {
    description: 'How long a health probe of a backend may take.',
  }),
  breakerFailures: setting('SERVICE_BREAKER_FAILURES', withDefault(integer(1), 3), {
    description: 'After so many failed requests in a row a backend gets no more of them.',
  }),
  breakerOpenSecs: setting('SERVICE_BREAKER_OPEN_SECS', withDefault(integer(1), 30), {
    description: 'For how long; then one request tries whether it works again.',
  }),
};

/** Heartbeats of GPU nodes. */
export const agentSettings = {
  agentHeartbeatSecs: setting('SERVICE_AGENT_HEARTBEAT_SECS', withDefault(integer(1), 10), {
    description: 'How often GPU nodes send a heartbeat.',
  }),
  agentTimeoutSecs: setting('SERVICE_AGENT_TIMEOUT_SECS', withDefault(integer(1), 30), {
    description: 'After so long without a heartbeat a GPU node is offline.',
  }),
};
