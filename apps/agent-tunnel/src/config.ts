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

/** Settings that only the agent tunnel has. */
export const agentTunnelSettings = {
  ...agentSettings,
  agentTunnelUrl: setting('SERVICE_AGENT_TUNNEL_URL', optional(urlWith('http', 'https')), {
    description:
      'The URL at which gateways reach this process, for requests to GPU nodes that they cannot reach directly.',
    defaultText: 'the local address of the connection of the node',
  }),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...databaseSettings,
  // Not for the keys of upstreams, which it does not have: gateways authenticate with a key derived from this one.
  encryptionKey: {
    ...encryptionKeySetting,
    requiredInProduction: false,
    defaultText:
      'generated into the data directory; none in production, and then no requests are forwarded to nodes',
  },
  ...busSettings,
  trustProxy: surfaceSettings.trustProxy,
  ...agentTunnelSettings,
};

/** The part that the app itself uses; the process handles ports and stores. */
export type AgentTunnelConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof agentTunnelSettings | 'buildHash' | 'drainDelaySecs' | 'trustProxy'
> & {
  /** False where no gateway has the key of this process: nodes are then reached directly or not at all. */
  readonly canTunnel?: boolean;
};

/** Reads the configuration of an agent-tunnel process. */
export function readAgentTunnelConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return {
    ...config,
    dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']),
    // In production gateways have a configured key, never the generated one of this data directory.
    canTunnel: config.encryptionKey !== undefined || environment['NODE_ENV'] !== 'production',
  };
}
