import { billingSettings } from '@model-gateway/billing';
import { busSettings } from '@model-gateway/bus';
import { databaseSettings } from '@model-gateway/db';
import { adminSettings, tokenSettings } from '@model-gateway/server-process';
import {
  absoluteDataDir,
  absoluteFile,
  serverSettings,
  surfaceSettings,
} from '@model-gateway/http';
import {
  decimal,
  effectiveSettings,
  flag,
  integer,
  loadConfig,
  oneOf,
  setting,
  withDefault,
  type ConfigOf,
  type EffectiveSetting,
  type Environment,
} from '@model-gateway/kernel';
import { checkOidcSettings, oidcSettings } from '@model-gateway/oidc';
import { mailSettings, webhookSettings } from '@model-gateway/outbound';
import { serviceRuntimeSettings } from '@model-gateway/service';
import { tracingSettings } from '@model-gateway/telemetry';

const PORT_DEFAULT = 8081;

/** Settings that only the RPC plane has. */
export const accountSettings = {
  ...adminSettings,
  ...billingSettings,
  ...serviceRuntimeSettings,
  ...oidcSettings,
  ...webhookSettings,
  ...mailSettings,
  anonymousIdleSecs: setting('SERVICE_ANON_WS_IDLE_SECS', withDefault(integer(1, 3600), 10), {
    description: 'How many seconds a WebSocket without a token may be idle.',
  }),
  anonymousPerAddressMax: setting(
    'SERVICE_MAX_ANON_STREAMS_PER_ADDRESS',
    withDefault(integer(1), 500),
    {
      description:
        'How many event streams and WebSockets without a token one client address may have at a time; clients on the same machine that use no proxy are not limited.',
    },
  ),
  rpcCallsPerUserMax: setting('SERVICE_RPC_CALLS_PER_USER', withDefault(integer(1), 50), {
    description:
      'How many RPC calls of one user a process serves or holds at a time, over all connections; more are refused. Calls without a token count by client address; clients on the same machine that use no proxy are then not limited.',
  }),
  keysPerUserMax: setting('SERVICE_MAX_KEYS_PER_USER', withDefault(integer(1), 1000), {
    description: 'How many active API keys a user may have.',
  }),
  registrationOpen: setting('SERVICE_REGISTRATION_OPEN', withDefault(flag(), true), {
    description: 'Whether registration is open; `false` closes it, also for the first user.',
    defaultText: 'open',
  }),
  registrationsPerMinuteMax: setting(
    'SERVICE_REGISTRATIONS_PER_MINUTE',
    withDefault(integer(1), 60),
    {
      description:
        'How many accounts one client address may register per minute; clients on the same machine that use no proxy are not limited.',
    },
  ),
  registrationsPerHourMax: setting('SERVICE_REGISTRATIONS_PER_HOUR', withDefault(integer(1), 600), {
    description: 'How many accounts one client address may register per hour.',
  }),
  firstAdmin: setting('SERVICE_FIRST_ADMIN', withDefault(oneOf('anyone', 'token'), 'anyone'), {
    description:
      'Who becomes the platform admin: `anyone` makes the first account the admin, `token` the first account that was registered with the admin token as bearer.',
  }),
  minMultiplier: setting('SERVICE_MIN_MULTIPLIER', withDefault(decimal(0, 1), 0), {
    description:
      'The lowest `cost_multiplier` that group admins may give to members, from 0 to 1; platform admins may give a lower one.',
  }),
  sessionAuth: setting('SERVICE_SESSION_AUTH', withDefault(flag(), false), {
    description:
      'Whether a response that an authenticated call copies to a session by `x-session-id` reaches only listeners with a JWT of the same user.',
    defaultText: '0',
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
  keyof typeof accountSettings | keyof typeof surfaceSettings | 'buildHash' | 'host'
> & {
  /** Everything that the process was started with, for admins to read. */
  readonly settings?: readonly EffectiveSetting[];
};

/** Reads the configuration of an rpc process. */
export function readRpcConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  checkOidcSettings(config);
  const invokedFrom = environment['INIT_CWD'];
  return {
    ...config,
    dataDir: absoluteDataDir(config.dataDir, invokedFrom),
    configFile: config.configFile && absoluteFile(config.configFile, invokedFrom),
    settings: effectiveSettings(processSettings, environment),
  };
}
