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

/** Settings that only the RPC plane has. */
export const accountSettings = {
  ...adminSettings,
  ...billingSettings,
  ...inferenceRuntimeSettings,
  anonymousIdleSecs: setting('SERVICE_ANON_WS_IDLE_SECS', withDefault(integer(1, 3600), 10), {
    description: 'How many seconds a WebSocket without a token may be idle.',
  }),
  registrationOpen: setting('SERVICE_REGISTRATION_OPEN', withDefault(flag(), true), {
    description: 'Whether registration is open; `false` closes it, also for the first user.',
    defaultText: 'open',
  }),
  accessTokenTtlSecs: setting('SERVICE_ACCESS_TOKEN_TTL_SECS', withDefault(integer(1), 900), {
    description: 'How many seconds an access token is valid.',
  }),
  refreshTokenTtlSecs: setting('SERVICE_REFRESH_TOKEN_TTL_SECS', withDefault(integer(1), 604_800), {
    description: 'How many seconds a refresh token is valid.',
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

/** The part that the app itself uses; the process handles ports and stores. */
export type RpcConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof accountSettings | keyof typeof surfaceSettings | 'buildHash'
>;

/** Reads the configuration of an rpc process. */
export function readRpcConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return { ...config, dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']) };
}
