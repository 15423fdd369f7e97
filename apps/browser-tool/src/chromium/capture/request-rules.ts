import type { CdpEvent, CdpConnection } from '../cdp-connection.ts';
import type { ProxyLogin } from '../process/proxy-login.ts';

/** Checks the requests of pages: allowed origins, and the credentials of the proxy. */
export interface RequestRules {
  /** Enables the rules for one session; each of its requests then waits for a decision. */
  enable(sessionId: string): Promise<unknown>;
  handle(event: CdpEvent): void;
}

/** Without rules, requests are not intercepted. */
export function createRequestRules(
  connection: CdpConnection,
  allowedOrigins: readonly string[],
  login: ProxyLogin | undefined,
): RequestRules {
  const isNeeded = allowedOrigins.length > 0 || login !== undefined;

  function decide(requestId: string, url: string, sessionId: string | undefined): void {
    const command = isAllowed(url, allowedOrigins)
      ? connection.send('Fetch.continueRequest', { requestId }, sessionId)
      : connection.send(
          'Fetch.failRequest',
          { requestId, errorReason: 'BlockedByClient' },
          sessionId,
        );
    // The request may have ended.
    command.catch(() => undefined);
  }

  function authenticate(requestId: string, isProxy: boolean, sessionId: string | undefined): void {
    const authChallengeResponse =
      isProxy && login !== undefined
        ? { response: 'ProvideCredentials' as const, ...login }
        : { response: 'Default' as const };
    connection
      .send('Fetch.continueWithAuth', { requestId, authChallengeResponse }, sessionId)
      .catch(() => undefined);
  }

  return {
    async enable(sessionId) {
      if (!isNeeded) return;
      const handleAuthRequests = login !== undefined;
      await connection.send('Fetch.enable', { handleAuthRequests }, sessionId);
    },
    handle(event) {
      if (event.method === 'Fetch.requestPaused') {
        decide(event.params.requestId, event.params.request.url, event.sessionId);
      } else if (event.method === 'Fetch.authRequired') {
        const { requestId, authChallenge } = event.params;
        authenticate(requestId, authChallenge.source === 'Proxy', event.sessionId);
      }
    },
  };
}

/** Whether pages may load a URL. */
function isAllowed(url: string, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0 || !URL.canParse(url)) return true;
  const { protocol, origin } = new URL(url);
  // These do not use the network.
  if (['about:', 'blob:', 'data:'].includes(protocol)) return true;
  return allowedOrigins.includes(origin);
}

/** A proxy's URL in Chromium's format. */
export function proxyServer(proxy: string): string {
  const { protocol, host } = new URL(proxy);
  // Chromium's socks5 always resolves names at the proxy.
  return `${protocol.replace('socks5h:', 'socks5:')}//${host}`;
}
