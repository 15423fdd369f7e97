import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts, ProviderIdentity, SignedIn } from '@model-gateway/accounts';
import { PASSWORD_CHARS_MAX, ServiceError } from '@model-gateway/contracts';
import {
  acceptsOnlyJson,
  createSameOriginCheck,
  parseJson,
  readBody,
  requestIdOf,
  REST_ERRORS,
  sendJsonText,
  sendRedirect,
  validated,
} from '@model-gateway/http';
import type { Clock } from '@model-gateway/kernel';
import { z } from 'zod';
import type { RpcConfig } from '../config.ts';
import { signedInRecord } from '../methods/auth.ts';
import type { ClientOf } from '../transports/client-of.ts';
import { createBrowserCookie, type BrowserCookie } from '../web-session/browser-cookie.ts';
import { createSignInState, SIGN_IN_STEP_SECS_MAX } from './sign-in-state.ts';

interface AccountLinkDependencies {
  readonly config: Pick<RpcConfig, 'publicUrl' | 'trustProxy' | 'oidcIssuer'>;
  readonly accounts: Pick<Accounts, 'linkIdentity'>;
  readonly sessionCookie: Pick<BrowserCookie, 'set'>;
  readonly clientOf: ClientOf;
  readonly jwtSecret: string;
  readonly clock: Clock;
}

/** The step of a sign-in in which a person gives the password of the local account that has their email. */
export interface AccountLink {
  /** Sends a browser to the page for the password; another client learns how to send it. */
  ask(
    request: IncomingMessage,
    response: ServerResponse,
    pending: { readonly identity: ProviderIdentity; readonly returnTo: string },
    error: ServiceError,
  ): void;
  /** `GET` says what is to be linked, `POST` takes the password. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export const LINK_PATH = '/auth/oidc/link';
const LINK_PAGE = '/console/sign-in/link';
const BODY_BYTES_MAX = 16 * 1024;
const NO_STORE: readonly string[] = ['cache-control', 'no-store'];

const body = z.object({ password: z.string().max(PASSWORD_CHARS_MAX) });

export function createAccountLink(dependencies: AccountLinkDependencies): AccountLink {
  const { config, accounts, sessionCookie, clientOf, jwtSecret, clock } = dependencies;
  const { links } = createSignInState({ secret: jwtSecret, clock });
  const isSameOrigin = createSameOriginCheck(config);
  const cookie = createBrowserCookie({
    ...config,
    jwtSecret,
    purpose: 'oidc_link',
    path: LINK_PATH,
    sameSite: 'Strict',
    maxAgeSecs: SIGN_IN_STEP_SECS_MAX,
  });

  function pendingOf(request: IncomingMessage) {
    const sealed = cookie.read(request);
    const pending = sealed === undefined ? undefined : links.open(sealed);
    if (pending !== undefined) return pending;
    throw new ServiceError(
      'invalid_request',
      'this sign-in has expired or began in another browser; start again',
    );
  }

  function show(request: IncomingMessage, response: ServerResponse): void {
    const { email } = pendingOf(request).identity;
    const provider = config.oidcIssuer === undefined ? null : new URL(config.oidcIssuer).host;
    sendJsonText(response, 200, JSON.stringify({ email, provider }), NO_STORE);
  }

  async function link(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { identity, returnTo } = pendingOf(request);
    const { password } = validated(body, parseJson(await readBody(request, BODY_BYTES_MAX)));
    const { clientIp } = clientOf(request);
    const origin = { clientIp, requestId: requestIdOf(request, response) };
    const signedIn: SignedIn = await accounts.linkIdentity(identity, password, origin);
    cookie.clear(request, response);
    if (acceptsOnlyJson(request)) {
      sendJsonText(response, 200, JSON.stringify(signedInRecord(signedIn)), NO_STORE);
      return;
    }
    sessionCookie.set(request, response, signedIn.refreshToken);
    sendJsonText(response, 200, JSON.stringify({ return_to: returnTo }), NO_STORE);
  }

  return {
    ask(request, response, { identity, returnTo }, { code, message }) {
      cookie.set(request, response, links.seal({ identity, returnTo }));
      if (!acceptsOnlyJson(request)) {
        sendRedirect(response, LINK_PAGE);
        return;
      }
      const { status, type } = REST_ERRORS[code];
      const text = JSON.stringify({
        error: { message, type, code, param: null },
        email: identity.email,
        // With the cookie of this answer.
        link: { method: 'POST', path: LINK_PATH, fields: ['password'] },
        expires_in: SIGN_IN_STEP_SECS_MAX,
      });
      sendJsonText(response, status, text, NO_STORE);
    },

    async handle(request, response) {
      const { method } = request;
      if (method !== 'GET' && method !== 'POST') {
        response.setHeader('allow', 'GET, POST');
        throw new ServiceError('method_not_allowed', 'use GET or POST');
      }
      if (!isSameOrigin(request))
        throw new ServiceError('origin_not_allowed', 'only pages of this service sign in');
      if (method === 'GET') show(request, response);
      else await link(request, response);
    },
  };
}
