import { delimiter } from 'node:path';
import { optionalRedisUrlSetting, redisAccessSettings } from '@model-gateway/bus';
import {
  encryptionKeySetting,
  migrateSetting,
  optionalDatabaseUrlSetting,
  readUrlSetting,
} from '@model-gateway/db';
import { adminSettings, tokenSettings } from '@model-gateway/server-process';
import {
  absoluteDataDir,
  absoluteFile,
  serverSettings,
  surfaceSettings,
} from '@model-gateway/http';
import {
  flag,
  effectiveSettings,
  loadConfig,
  optional,
  setting,
  text,
  unknownSettings,
  withDefault,
  type ConfigOf,
  type EffectiveSetting,
  type Environment,
  type UnknownSetting,
} from '@model-gateway/kernel';
import { tracingSettings } from '@model-gateway/telemetry';
import { agentTunnelSettings } from 'agent-tunnel/app';
import { gatewaySettings } from 'gateway/app';
import { accountSettings, checkOidcSettings } from 'rpc/app';
import { videoWorkerSettings } from 'video-worker/app';
import { commandLineOf } from './command-line.ts';
import { processesSetting } from './processes.ts';

const PORT_DEFAULT = 8080;

/** Secrets that are required for separate processes are generated here, also in production. */
const generated = {
  requiredInProduction: false,
  defaultText: 'generated into the data directory',
  fallback: 'file' as const,
};
const generatedSecrets = {
  jwtSecret: { ...tokenSettings.jwtSecret, ...generated },
  encryptionKey: { ...encryptionKeySetting, ...generated },
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...surfaceSettings,
  databaseUrl: { ...optionalDatabaseUrlSetting, whileUnset: 'embedded' },
  databaseReadUrl: readUrlSetting,
  migrate: migrateSetting,
  redisUrl: { ...optionalRedisUrlSetting, whileUnset: 'embedded' },
  ...redisAccessSettings,
  ...generatedSecrets,
  ...gatewaySettings,
  ...accountSettings,
  ...videoWorkerSettings,
  ...agentTunnelSettings,
  adminToken: { ...adminSettings.adminToken, fallback: generated.fallback },
  metricsToken: setting('SERVICE_METRICS_TOKEN', optional(text()), {
    description:
      'A bearer that may read `/metrics` of `npm start` from other machines, besides the admin token.',
    defaultText: 'unset',
    secret: true,
  }),
  processes: processesSetting,
  demo: setting('SERVICE_DEMO', withDefault(flag(), true), {
    description:
      'Whether `npm start` runs the demo backend (`demo-chat` and the other models of the guide "The demo model"). They are listed while no backend is registered, and answer afterwards too.',
    defaultText: '1',
  }),
};

export type StandaloneConfig = ReturnType<typeof readStandaloneConfig>;

/** Reads the configuration of the process that runs all apps. */
export function readStandaloneConfig(environment: Environment = process.env): ConfigOf<
  typeof processSettings
> & {
  /** The options of Node.js for processes that do not serve. */
  readonly nodeOptions: string;
  /** The search path for programs. */
  readonly programPath: string;
  /** How a person calls the command line. */
  readonly commandLine: string | undefined;
  readonly settings: readonly EffectiveSetting[];
  readonly unknownSettings: readonly UnknownSetting[];
} {
  const config = loadConfig(processSettings, environment);
  checkOidcSettings(config);
  return {
    ...config,
    dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']),
    configFile: config.configFile && absoluteFile(config.configFile, environment['INIT_CWD']),
    commandLine: commandLineOf(environment, process.argv[1]),
    settings: effectiveSettings(processSettings, environment),
    unknownSettings: unknownSettings(processSettings, environment),
    nodeOptions: withoutPreloads(environment['NODE_OPTIONS'] ?? ''),
    programPath: environment['PATH'] ?? ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  };
}

/** Preloaded modules are for the process that serves; some open a port, which only one process can. */
const withoutPreloads = (options: string): string =>
  options.replaceAll(/(?<!\S)(?:--import|--require|-r)[= ]\S+/g, '').trim();

/** For `pnpm gateway config:check`: the variables of a configuration file, and the folder that the command was called in. */
export const readCheckConfig = (environment: Environment = process.env) => ({
  ...loadConfig({ webhookAllowPrivate: gatewaySettings.webhookAllowPrivate }, environment),
  variables: environment,
  invokedFrom: environment['INIT_CWD'] ?? '.',
});
