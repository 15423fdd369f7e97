import { busSettings } from '@model-gateway/bus';
import { databaseSettings } from '@model-gateway/db';
import { adminSettings, tokenSettings } from '@model-gateway/server-process';
import {
  absoluteDataDir,
  absoluteFile,
  ERROR_FORMS,
  serverSettings,
  surfaceSettings,
} from '@model-gateway/http';
import {
  decimal,
  flag,
  integer,
  loadConfig,
  oneOf,
  setting,
  withDefault,
  type ConfigOf,
  type Environment,
} from '@model-gateway/kernel';
import { serviceRuntimeSettings } from '@model-gateway/service';
import { tracingSettings } from '@model-gateway/telemetry';

const PORT_DEFAULT = 8080;
const KEEPALIVE_SECS_MAX = 86_400;

/** Settings that only the gateway has. */
export const gatewaySettings = {
  ...serviceRuntimeSettings,
  ...adminSettings,
  requestsPerMinute: setting('SERVICE_API_RATE_LIMIT_RPM', withDefault(integer(0), 60), {
    description:
      'How many `/v1` requests per key each process accepts within 60 seconds; 0 blocks everything.',
  }),
  quickStartModels: setting('SERVICE_QUICK_START_MODELS', withDefault(flag(), true), {
    description:
      'Whether `GET /v1/models` lists six small models that no backend serves yet, each with `"status": "suggested"`.',
    defaultText: '1',
  }),
  errors: setting('SERVICE_ERRORS', withDefault(oneOf(...ERROR_FORMS), 'auto'), {
    description:
      "The form of errors on `/v1`. `specified`: plain text for a refused key and for the limit of the process, 502 for an error of an upstream. `openai`: always JSON, `invalid_api_key` for a refused key, and the upstream's own 400, 404, 408, 409, 413, 415, 422 and 429. `auto`: `openai` for requests that show that a client of OpenAI's API sends them, `specified` for all others. A request decides for itself with the header `x-service-errors: upstream` or `specified`.",
  }),
  upstreamErrors: setting('SERVICE_UPSTREAM_ERRORS', withDefault(oneOf('wrap', 'pass'), 'wrap'), {
    description: '`pass` is another name for `SERVICE_ERRORS=openai`.',
  }),
  streamKeepAliveSecs: setting(
    'SERVICE_STREAM_KEEPALIVE_SECS',
    withDefault(decimal(0, KEEPALIVE_SECS_MAX), 15),
    {
      description:
        'After this time without anything sent to the client of a stream, it gets a sign of life, again and again: `: keep-alive`, or an event in `/v1/messages` and `/v1/responses`. 0: never.',
    },
  ),
  responsesRetentionDays: setting('SERVICE_RESPONSES_RETENTION_DAYS', withDefault(integer(0), 30), {
    description:
      'How many days a response of `/v1/responses` is stored, unless its request has `store: false`; 0 stores none.',
  }),
  responsesPerUserMax: setting('SERVICE_RESPONSES_PER_USER_MAX', withDefault(integer(1), 10_000), {
    description:
      'How many responses of `/v1/responses` are stored for a user, about; the oldest are deleted.',
  }),
  bodyBytesMax: setting('SERVICE_MAX_BODY_BYTES', withDefault(integer(1), 33_554_432), {
    description: 'The largest body of a `/v1` request that is accepted, in bytes.',
  }),
  uploadBytesMax: setting('SERVICE_UPLOAD_BYTES_MAX', withDefault(integer(1), 104_857_600), {
    description:
      'The largest upload, as of audio to transcribe, in bytes. It passes through and is never in memory as a whole.',
  }),
  uploadFilesBytesMax: setting(
    'SERVICE_UPLOAD_FILES_BYTES_MAX',
    withDefault(integer(1), 536_870_912),
    {
      description:
        'How many bytes the temporary files of uploads may have together, in each process. They are in the data directory, and needed where a client sends the model after the file.',
    },
  ),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...surfaceSettings,
  ...databaseSettings,
  ...busSettings,
  ...tokenSettings,
  ...gatewaySettings,
};

/** The part that the app itself uses; the process handles ports and stores. */
export type GatewayConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof gatewaySettings | keyof typeof surfaceSettings | 'buildHash' | 'dataDir'
>;

/** Reads the configuration of a gateway process. */
export function readGatewayConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  const invokedFrom = environment['INIT_CWD'];
  return {
    ...config,
    dataDir: absoluteDataDir(config.dataDir, invokedFrom),
    configFile: config.configFile && absoluteFile(config.configFile, invokedFrom),
  };
}
