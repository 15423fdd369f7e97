import { busSettings } from '@model-gateway/bus';
import { databaseSettings, encryptionKeySetting } from '@model-gateway/db';
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
  // Not for the keys of upstreams, of which it knows none: gateways show it a key that is derived from this one.
  encryptionKey: {
    ...encryptionKeySetting,
    requiredInProduction: false,
    defaultText:
      'generated into the data directory, but none in production, where nothing is passed on to nodes then',
  },
  ...busSettings,
  trustProxy: surfaceSettings.trustProxy,
  ...agentTunnelSettings,
};

/** What the app itself reads; ports and stores are its process's business. */
export type AgentTunnelConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof agentTunnelSettings | 'buildHash' | 'drainDelaySecs' | 'trustProxy'
> & {
  /** False where no gateway can know the key of this process: nodes are then reached directly or not at all. */
  readonly canTunnel?: boolean;
};

/** Reads the configuration of an agent-tunnel process. */
export function readAgentTunnelConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return {
    ...config,
    dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']),
    // In production gateways have a key that was given to them, and never the one in this data directory.
    canTunnel: config.encryptionKey !== undefined || environment['NODE_ENV'] !== 'production',
  };
}
