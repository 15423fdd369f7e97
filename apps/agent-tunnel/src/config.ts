import { busSettings } from '@model-gateway/bus';
import { databaseSettings } from '@model-gateway/db';
import { absoluteDataDir, serverSettings, surfaceSettings } from '@model-gateway/http';
import {
  loadConfig,
  optional,
  setting,
  urlWith,
  type ConfigOf,
  type Environment,
} from '@model-gateway/kernel';
import { agentSettings } from '@model-gateway/router';
import { tracingSettings } from '@model-gateway/telemetry';

const PORT_DEFAULT = 8082;

/** What only the agent tunnel can be told. */
export const agentTunnelSettings = {
  ...agentSettings,
  agentTunnelUrl: setting('SERVICE_AGENT_TUNNEL_URL', optional(urlWith('http', 'https')), {
    description:
      'Where gateways reach this very process, for requests to GPU nodes that they cannot reach themselves.',
    defaultText: 'the address on which the node reached it',
  }),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...databaseSettings,
  ...busSettings,
  trustProxy: surfaceSettings.trustProxy,
  ...agentTunnelSettings,
};

/** What the app itself reads; ports and stores are its process's business. */
export type AgentTunnelConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof agentTunnelSettings | 'buildHash' | 'drainDelaySecs' | 'trustProxy'
>;

/** Reads the configuration of an agent-tunnel process. */
export function readAgentTunnelConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return { ...config, dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']) };
}
