import type { EngineContext } from '../engine.ts';
import type { CdpEvent, CdpConnection } from './cdp-connection.ts';

/** What stands between pages and the network: allowed origins, and the password of the proxy. */
export interface RequestRules {
  /** Sets the rules up for one session; every request of it waits for our word then. */
  enable(sessionId: string): Promise<unknown>;
  handle(event: CdpEvent): void;
}

/** Without rules, nothing stands in between. */
export function createRequestRules(
  connection: CdpConnection,
  { allowedOrigins, proxy }: Pick<EngineContext, 'allowedOrigins' | 'proxy'>,
): RequestRules {
  const login = proxy === undefined ? undefined : proxyLogin(proxy);
  const isNeeded = allowedOrigins.length > 0 || login !== undefined;

  function decide(requestId: string, url: string, sessionId: string | undefined): void {
    const command = isAllowed(url, allowedOrigins)
      ? connection.send('Fetch.continueRequest', { requestId }, sessionId)
      : connection.send(
          'Fetch.failRequest',
          { requestId, errorReason: 'BlockedByClient' },
          sessionId,
        );
    // The request may be gone by now.
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

/** Whether pages may talk to an address, given the origins that they may. */
function isAllowed(url: string, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0 || !URL.canParse(url)) return true;
  const { protocol, origin } = new URL(url);
  // These never leave the browser.
  if (['about:', 'blob:', 'data:'].includes(protocol)) return true;
  return allowedOrigins.includes(origin);
}

/** The name and password in a proxy's address, which Chromium does not take there. */
function proxyLogin(
  proxy: string,
): { readonly username: string; readonly password: string } | undefined {
  const { username, password } = new URL(proxy);
  if (username === '' && password === '') return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** A proxy's address as Chromium takes it. */
export function proxyServer(proxy: string): string {
  const { protocol, host } = new URL(proxy);
  // Chromium's socks5 resolves names at the proxy in any case.
  return `${protocol.replace('socks5h:', 'socks5:')}//${host}`;
}
