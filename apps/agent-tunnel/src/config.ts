import { busSettings } from '@model-gateway/bus';
import { databaseUrlSetting, migrateSetting } from '@model-gateway/db';
import { absoluteDataDir, serverSettings } from '@model-gateway/http';
import { loadConfig, type ConfigOf, type Environment } from '@model-gateway/kernel';

const PORT_DEFAULT = 8082;

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  databaseUrl: databaseUrlSetting,
  migrate: migrateSetting,
  ...busSettings,
};

/** What the app itself reads; ports and stores are its process's business. */
export type AgentTunnelConfig = Pick<ConfigOf<typeof processSettings>, 'buildHash'>;

/** Reads the configuration of an agent-tunnel process. */
export function readAgentTunnelConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return { ...config, dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']) };
}
