import type { IncomingMessage, ServerResponse } from 'node:http';
import { areClaimsComplete, identityOf, type Accounts } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import {
  acceptsOnlyJson,
  beginResponse,
  isLoopback,
  pageHeaders,
  publicUrlOf,
  requestIdOf,
  REST_ERRORS,
  type RestError,
  sendJsonText,
  sendRedirect,
} from '@model-gateway/http';
import { randomToken, type Clock, type Log } from '@model-gateway/kernel';
import { createOidcClient, describeRefusal, type OidcClient } from '@model-gateway/oidc';
import type { RpcConfig } from '../config.ts';
import { signedInRecord } from '../methods/auth.ts';
import type { ClientOf } from '../transports/client-of.ts';
import { createBrowserCookie, type BrowserCookie } from '../web-session/browser-cookie.ts';
import { createAccountLink, LINK_PATH } from './account-link.ts';
import { returnPathOf } from './return-path.ts';
import { createSignInState, SIGN_IN_STEP_SECS_MAX } from './sign-in-state.ts';
import { signInPage } from './sign-in-page.ts';

interface OidcDependencies {
  readonly config: RpcConfig;
  readonly accounts: Pick<Accounts, 'signInWithIdentity' | 'linkIdentity'>;
  readonly sessionCookie: Pick<BrowserCookie, 'set'>;
  readonly clientOf: ClientOf;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Log;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const START_PATH = '/auth/oidc/start';
const CALLBACK_PATH = '/auth/oidc/callback';
const LOGOUT_PATH = '/auth/oidc/logout';
const CONSOLE_PATH = '/console/';
const SECRET_BYTES = 32;
/** Each callback waits for the provider. */
const CALLBACKS_AT_ONCE_MAX = 100;
const BUSY_RETRY_SECS = 5;

/** Sign-in of browsers through an OpenID Connect provider. */
export function createOidcRoutes(dependencies: OidcDependencies): Readonly<Record<string, Handle>> {
  const { config, accounts, sessionCookie, clientOf, log } = dependencies;
  const rules = {
    allowedDomains: config.oidcAllowedDomains,
    adminGroups: config.oidcAdminGroups,
  };
  const provider = openProvider(dependencies, rules);
  const { signIns } = createSignInState({
    secret: dependencies.jwtSecret,
    clock: dependencies.clock,
  });
  const accountLink = createAccountLink(dependencies);
  const pendingCookie = createBrowserCookie({
    ...config,
    jwtSecret: dependencies.jwtSecret,
    purpose: 'oidc',
    path: '/auth/oidc',
    // With `Strict` the browser would not send it when the provider, which is another site, redirects back.
    sameSite: 'Lax',
    maxAgeSecs: SIGN_IN_STEP_SECS_MAX,
  });
  let callbacks = 0;

  const start: Handle = async (request, response) => {
    const returnTo = returnPathOf(queryOf(request).get('return_to'));
    const proof = {
      state: randomToken(SECRET_BYTES),
      nonce: randomToken(SECRET_BYTES),
      codeVerifier: randomToken(SECRET_BYTES),
    };
    const redirectUri = `${baseUrlOf(request, config.publicUrl)}${CALLBACK_PATH}`;
    const url = await provider().authorizationUrl({ ...proof, redirectUri });
    pendingCookie.set(request, response, signIns.seal({ ...proof, returnTo }));
    sendRedirect(response, url.href);
  };

  const finish: Handle = async (request, response) => {
    const sealed = pendingCookie.read(request);
    const pending = sealed === undefined ? undefined : signIns.open(sealed);
    const query = queryOf(request);
    if (pending === undefined || query.get('state') !== pending.state) {
      throw new ServiceError(
        'invalid_request',
        'this sign-in has expired or began in another browser; start again',
      );
    }
    // A state works once: its cookie is removed, and the provider accepts its code once. A callback with another state, such as
    // one of another tab, does not end this sign-in.
    pendingCookie.clear(request, response);
    const callbackUrl = new URL(`${baseUrlOf(request, config.publicUrl)}${CALLBACK_PATH}`);
    callbackUrl.search = query.toString();
    const identity = identityOf(await provider().claimsOf(callbackUrl, pending), rules);
    const { clientIp } = clientOf(request);
    const origin = { clientIp, requestId: requestIdOf(request, response) };
    const signedIn = await accounts.signInWithIdentity(identity, origin).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'account_exists') throw error;
      accountLink.ask(request, response, { identity, returnTo: pending.returnTo }, error);
    });
    if (signedIn === undefined) return;
    if (acceptsOnlyJson(request)) {
      const text = JSON.stringify(signedInRecord(signedIn));
      sendJsonText(response, 200, text, ['cache-control', 'no-store']);
      return;
    }
    sessionCookie.set(request, response, signedIn.refreshToken);
    sendRedirect(response, pending.returnTo);
  };

  const callback: Handle = async (request, response) => {
    if (callbacks >= CALLBACKS_AT_ONCE_MAX) {
      throw new ServiceError('too_many_login_attempts', 'too many sign-ins at the same time', {
        details: { retry_after_secs: BUSY_RETRY_SECS },
      });
    }
    callbacks += 1;
    try {
      await finish(request, response);
    } finally {
      callbacks -= 1;
    }
  };

  const logout: Handle = async (request, response) => {
    const url = await provider().logoutUrl(
      `${baseUrlOf(request, config.publicUrl)}${CONSOLE_PATH}`,
    );
    sendRedirect(response, url?.href ?? CONSOLE_PATH);
  };

  /** Browsers get a page where other clients get an error. */
  const withPage =
    (handle: Handle): Handle =>
    async (request, response) => {
      if (request.method !== 'GET') {
        response.setHeader('allow', 'GET');
        throw new ServiceError('method_not_allowed', 'use GET');
      }
      try {
        await handle(request, response);
      } catch (error) {
        if (!(error instanceof ServiceError) || response.headersSent) throw error;
        const { code } = error;
        log.warn({ code, reason: describeRefusal(error) }, 'a sign-in through OIDC failed');
        if (acceptsOnlyJson(request) || code === 'not_found') throw error;
        sendFailure(error, request, response);
      }
    };

  return {
    [START_PATH]: withPage(start),
    [CALLBACK_PATH]: withPage(callback),
    [LOGOUT_PATH]: withPage(logout),
    [LINK_PATH]: (request, response) => accountLink.handle(request, response),
  };
}

/** The configured provider; the returned function rejects where there is none. */
function openProvider(
  { config, clock }: OidcDependencies,
  rules: Parameters<typeof areClaimsComplete>[1],
): () => OidcClient {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config;
  const client =
    issuer === undefined || clientId === undefined
      ? undefined
      : createOidcClient({
          issuer,
          clientId,
          clientSecret: config.oidcClientSecret,
          scopes: config.oidcScopes,
          isComplete: (claims) => areClaimsComplete(claims, rules),
          clock,
        });
  return () => {
    if (client !== undefined) return client;
    throw new ServiceError('not_found', 'sign-in through OIDC is not configured');
  };
}

/** The address of this service as the browser knows it. The `Host` of a request is believed on this machine only. */
function baseUrlOf(request: IncomingMessage, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrlOf({ publicUrl, host: '' }, 0);
  const url = `http://${request.headers.host ?? ''}`;
  if (URL.canParse(url) && isLoopback(new URL(url).hostname)) return new URL(url).origin;
  throw new ServiceError(
    'invalid_request',
    'sign-in through OIDC needs the address of this service; the operator sets SERVICE_PUBLIC_URL',
  );
}

const queryOf = (request: IncomingMessage): URLSearchParams =>
  new URL(request.url ?? '/', 'http://this-service.invalid').searchParams;

function sendFailure(
  error: ServiceError,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const isAway = error.code === 'identity_provider_unavailable';
  requestIdOf(request, response);
  const page = signInPage({
    title: isAway ? 'The identity provider does not answer' : 'Sign-in failed',
    text: isAway
      ? 'Sign-in through the identity provider is not available now. Accounts with a password can sign in with it.'
      : error.message,
    retryPath: START_PATH,
    passwordPath: CONSOLE_PATH,
  });
  const { status, retryAfterSecs }: RestError = REST_ERRORS[error.code];
  const headers = { ...pageHeaders(page), 'cache-control': 'no-store' };
  if (retryAfterSecs !== undefined) response.setHeader('retry-after', String(retryAfterSecs));
  beginResponse(response, status, [
    'content-type',
    'text/html; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(page)),
    ...Object.entries(headers).flat(),
  ]);
  response.end(page);
}
