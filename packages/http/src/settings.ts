import { resolve } from 'node:path';
import {
  decimal,
  integer,
  list,
  LOG_LEVELS,
  oneOf,
  optional,
  setting,
  text,
  urlWith,
  withDefault,
} from '@model-gateway/kernel';
// By its package's name, so that a bundle reads it at run time.
import { BUILD_HASH } from '@model-gateway/http/build-hash';
import { bodiesBytesDefault } from './requests/body-memory.ts';
import { isTrustProxy } from './requests/client-ip.ts';
import { isCorsOrigin } from './responses/cors.ts';
import { CLIENT_STALL_SECS } from './server/http-server.ts';

// Delay and drain timeout together stay below the time that a process may take to stop.
const DRAIN_DELAY_SECS_MAX = 10;
const STALL_SECS_MAX = 86_400;

/** Settings of every server process. */
export const serverSettings = (defaultPort: number) => ({
  host: setting('SERVICE_HOST', withDefault(text(), '127.0.0.1'), {
    description: 'Address to listen on.',
  }),
  port: setting('SERVICE_PORT', withDefault(integer(0, 65_535), defaultPort), {
    description: 'Port to listen on; 0 takes a free one.',
  }),
  dataDir: setting('SERVICE_DATA_DIR', withDefault(text(), '.data'), {
    description: 'Folder for the usage journal, generated secrets and the embedded stores.',
  }),
  buildHash: setting('SERVICE_BUILD_HASH', withDefault(text(), BUILD_HASH), {
    description: 'Commit shown in the health response.',
    defaultText: 'the git commit that was built, else dev',
  }),
  drainDelaySecs: setting(
    'SERVICE_DRAIN_DELAY_SECS',
    withDefault(integer(0, DRAIN_DELAY_SECS_MAX), 0),
    {
      description:
        'How many seconds a stopping process still serves new requests while `/readyz` returns 503, until load balancers notice.',
    },
  ),
  clientStallSecs: setting(
    'SERVICE_CLIENT_STALL_SECS',
    withDefault(decimal(0.1, STALL_SECS_MAX), CLIENT_STALL_SECS),
    {
      description:
        'A client that takes nothing of its answer for this long is disconnected: its upstream is stopped, and what it was sent is metered.',
    },
  ),
  logLevel: setting('SERVICE_LOG_LEVEL', withDefault(oneOf(...LOG_LEVELS), 'info'), {
    description: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
  }),
});

const corsOrigins = list().refine(
  (origins) => origins.every(isCorsOrigin),
  '* or origins such as https://app.example.com, without a path, separated by commas',
);
const trustProxy = text().refine(
  isTrustProxy,
  'true, false, a number of proxies, or a comma list of addresses, networks, loopback, linklocal and uniquelocal',
);

/** Settings of the apps that clients call. */
export const surfaceSettings = {
  corsOrigins: setting('SERVICE_CORS_ORIGINS', withDefault(corsOrigins, []), {
    description: 'Origins from which browsers may call, separated by commas; `*` allows all.',
    defaultText: 'none',
  }),
  trustProxy: setting('SERVICE_TRUST_PROXY', withDefault(trustProxy, 'loopback'), {
    description:
      'Which proxies are trusted to report the client address (the `trust proxy` setting of Express).',
  }),
  requestBodiesBytesMax: setting(
    'SERVICE_REQUEST_BODIES_BYTES_MAX',
    withDefault(integer(1024), bodiesBytesDefault()),
    {
      description:
        'How many bytes of large request bodies (from 256 KiB) a process holds at once, until their requests are answered; one user gets at most half. Further bodies wait; after 30 s the request is a 503 `overloaded`. The process needs about eight times this memory.',
      defaultText: 'a sixteenth of the heap limit of Node.js, or of the container if it has less',
    },
  ),
  publicUrl: setting('SERVICE_PUBLIC_URL', optional(urlWith('http', 'https')), {
    description: 'Base URL shown in hints and docs.',
    defaultText: 'derived from host and port',
  }),
};

/** A data directory as an absolute path; a relative one is relative to where the command was run, not to the app's folder. */
export const absoluteDataDir = (dataDir: string, invokedFrom: string | undefined): string =>
  resolve(invokedFrom ?? '.', dataDir);

/** A file of the configuration, relative to where the command was run. */
export const absoluteFile = (file: string, invokedFrom: string | undefined): string =>
  resolve(invokedFrom ?? '.', file);

/** The base URL shown to users. */
export function publicUrlOf(
  config: { readonly publicUrl: string | undefined; readonly host: string },
  port: number,
): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/+$/, '');
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
