import type { ScriptedUpstreams } from './scripted-upstreams.ts';

/**
 * Settings that keep limits, which other tests cover, out of the way, and that end what waits for an upstream soon. One of
 * the upstreams is also the identity provider.
 */
export const serviceEnvironment = ({
  of,
}: ScriptedUpstreams): Readonly<Record<string, string>> => ({
  SERVICE_OIDC_ISSUER: of.external.url,
  SERVICE_OIDC_CLIENT_ID: 'fuzz',
  SERVICE_API_RATE_LIMIT_RPM: '1000000000',
  SERVICE_BREAKER_FAILURES: '1000000',
  SERVICE_UPSTREAM_CONNECT_TIMEOUT_MS: '2000',
  SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '3000',
  SERVICE_UPSTREAM_TOTAL_TIMEOUT_MS: '6000',
  SERVICE_VIDEO_POLL_MS: '20',
  SERVICE_VIDEO_TIMEOUT_SECS: '2',
});
