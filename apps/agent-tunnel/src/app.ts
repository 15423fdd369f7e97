import type { AppContext } from '@model-gateway/host';
import {
  answerNotFound,
  createProbes,
  pathOf,
  SERVICE_VERSION,
  type ServerApp,
} from '@model-gateway/http';
import type { AgentTunnelConfig } from './config.ts';

/** Where GPU nodes dial in. */
export function createAgentTunnel(config: AgentTunnelConfig, context: AppContext): ServerApp {
  const { database, bus, log, metrics, stopping } = context;
  const answerProbe = createProbes({
    version: SERVICE_VERSION,
    buildHash: config.buildHash,
    metrics,
    stopping,
    checks: { postgres: () => database.ping(), redis: () => bus.ping() },
  });
  return {
    name: 'agent-tunnel',
    start: async () => undefined,
    stop: async () => undefined,
    handle(request, response) {
      const path = pathOf(request);
      if (answerProbe(request.method, path, response)) return;
      answerNotFound(request, response, log);
    },
  };
}
