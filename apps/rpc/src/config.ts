import { billingSettings } from '@model-gateway/billing';
import { busSettings } from '@model-gateway/bus';
import { databaseSettings } from '@model-gateway/db';
import { adminSettings, tokenSettings } from '@model-gateway/server-process';
import { absoluteDataDir, serverSettings, surfaceSettings } from '@model-gateway/http';
import {
  flag,
  integer,
  loadConfig,
  setting,
  withDefault,
  type ConfigOf,
  type Environment,
} from '@model-gateway/kernel';
import { inferenceRuntimeSettings } from '@model-gateway/inference-runtime';
import { tracingSettings } from '@model-gateway/telemetry';

const PORT_DEFAULT = 8081;

/** What only the RPC plane can be told. */
export const accountSettings = {
  ...adminSettings,
  ...billingSettings,
  ...inferenceRuntimeSettings,
  anonymousIdleSecs: setting('SERVICE_ANON_WS_IDLE_SECS', withDefault(integer(1, 3600), 10), {
    description: 'How long a WebSocket without a token may be silent.',
    defaultText: '10',
  }),
  registrationOpen: setting('SERVICE_REGISTRATION_OPEN', withDefault(flag(), true), {
    description:
      'Whether people may register; `false` closes registration, also for the first user.',
    defaultText: 'open',
  }),
  accessTokenTtlSecs: setting('SERVICE_ACCESS_TOKEN_TTL_SECS', withDefault(integer(1), 900), {
    description: 'How long an access token is valid.',
    defaultText: '900',
  }),
  refreshTokenTtlSecs: setting('SERVICE_REFRESH_TOKEN_TTL_SECS', withDefault(integer(1), 604_800), {
    description: 'How long a refresh token is valid.',
    defaultText: '604800',
  }),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...surfaceSettings,
  ...databaseSettings,
  ...busSettings,
  ...tokenSettings,
  ...accountSettings,
};

/** What the app itself reads; ports and stores are its process's business. */
export type RpcConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof accountSettings | keyof typeof surfaceSettings | 'buildHash'
>;

/** Reads the configuration of an rpc process. */
export function readRpcConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return { ...config, dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']) };
}
