import { AGENT_HEARTBEAT_SECS_MAX, AGENT_HEARTBEAT_SECS_MIN } from '@model-gateway/contracts';
import { integer, setting, timerMs, timerSecs, withDefault } from '@model-gateway/kernel';

/** Health checks and circuit breakers of backends. */
export const routerSettings = {
  healthIntervalSecs: setting('SERVICE_HEALTH_INTERVAL_SECS', withDefault(timerSecs(), 60), {
    description: 'The interval between two health probes of a backend, in seconds.',
  }),
  probeTimeoutMs: setting('SERVICE_PROBE_TIMEOUT_MS', withDefault(timerMs(), 2000), {
    description: 'How long a health probe of a backend may take.',
  }),
  breakerFailures: setting('SERVICE_BREAKER_FAILURES', withDefault(integer(1), 3), {
    description:
      'How many failed requests in a row open the circuit of a backend, so that it gets no requests.',
  }),
  breakerOpenSecs: setting('SERVICE_BREAKER_OPEN_SECS', withDefault(timerSecs(), 30), {
    description: 'How many seconds the circuit of a backend stays open; then one request tests it.',
  }),
};

/** Heartbeats of GPU nodes. */
export const agentSettings = {
  agentHeartbeatSecs: setting(
    'SERVICE_AGENT_HEARTBEAT_SECS',
    withDefault(integer(AGENT_HEARTBEAT_SECS_MIN, AGENT_HEARTBEAT_SECS_MAX), 10),
    { description: 'The interval between two heartbeats of a GPU node, in seconds: 1 to 3,600.' },
  ),
  agentTimeoutSecs: setting('SERVICE_AGENT_TIMEOUT_SECS', withDefault(timerSecs(), 30), {
    description: 'How many seconds after its last heartbeat a GPU node counts as offline.',
  }),
};
