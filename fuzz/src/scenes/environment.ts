/** Settings that keep limits, which other tests cover, out of the way, and that end what waits for an upstream soon. */
export const serviceEnvironment: Readonly<Record<string, string>> = {
  SERVICE_API_RATE_LIMIT_RPM: '1000000000',
  SERVICE_BREAKER_FAILURES: '1000000',
  SERVICE_UPSTREAM_CONNECT_TIMEOUT_MS: '2000',
  SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '3000',
  SERVICE_UPSTREAM_TOTAL_TIMEOUT_MS: '6000',
  SERVICE_VIDEO_POLL_MS: '20',
  SERVICE_VIDEO_TIMEOUT_SECS: '2',
};
