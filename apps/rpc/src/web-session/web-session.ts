import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts, UserStore } from '@model-gateway/accounts';
import { rpcMethods, ServiceError, type RpcResult } from '@model-gateway/contracts';
import {
  bearerOf,
  parseJson,
  readBody,
  requestIdOf,
  sendJsonText,
  validated,
  type OriginCheck,
} from '@model-gateway/http';
import { signedInRecord } from '../methods/auth.ts';
import type { CallPlaces } from '../protocol/call-places.ts';
import type { PerformCall } from '../protocol/dispatcher.ts';
import type { ClientOf } from '../transports/client-of.ts';
import type { BrowserCookie } from './browser-cookie.ts';
import { SESSION_PATH } from './session-cookie.ts';

interface WebSessionDependencies {
  readonly accounts: Pick<Accounts, 'login' | 'refreshCookie' | 'logoutCookie'>;
  readonly perform: PerformCall;
  readonly places: CallPlaces;
  readonly cookie: BrowserCookie;
  readonly isSameOrigin: OriginCheck;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
  readonly clientOf: ClientOf;
  readonly users: Pick<UserStore, 'isEmpty'>;
  readonly registrationOpen: boolean;
  readonly firstAdmin: 'anyone' | 'token';
  /** The OpenID Connect provider through which people can also sign in. */
  readonly oidcIssuer: string | undefined;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const BODY_BYTES_MAX = 16 * 1024;

/** Signs browsers in and out: the refresh token stays in a cookie, the response has only the access token. */
export function createWebSession(
  dependencies: WebSessionDependencies,
): Readonly<Record<string, Handle>> {
  const { accounts, perform, places, cookie, isSameOrigin, isAdminToken, clientOf, oidcIssuer } =
    dependencies;

  /** A body that is still being received has no place yet. */
  const inPlace = <Result>(
    request: IncomingMessage,
    work: () => Promise<Result>,
  ): Promise<Result> =>
    places.run(
      {
        method: 'auth.login',
        credentials: { bearer: bearerOf(request), ...clientOf(request) },
      },
      work,
    );

  function signIn(
    request: IncomingMessage,
    response: ServerResponse,
    { refresh_token, ...shown }: RpcResult<'auth.login'>,
  ): void {
    cookie.set(request, response, refresh_token);
    send(response, 200, shown);
  }

  const login: Handle = async (request, response) => {
    const { params } = rpcMethods['auth.login'];
    const { email, password } = validated(params, await bodyOf(request));
    const { clientIp } = clientOf(request);
    const signedIn = await inPlace(request, () => accounts.login({ email, password, clientIp }));
    signIn(request, response, signedInRecord(signedIn));
  };

  const register: Handle = async (request, response) => {
    const { params } = rpcMethods['auth.register'];
    const applicant = validated(params, await bodyOf(request));
    const hasAdminToken = isAdminToken(bearerOf(request));
    const client = { ...clientOf(request), hasAdminToken };
    const caller = { ...client, user: undefined, requestId: requestIdOf(request, response) };
    const signedIn = await inPlace(request, () =>
      perform('auth.register', applicant, client, caller),
    );
    signIn(request, response, signedIn as RpcResult<'auth.register'>);
  };

  const refresh: Handle = async (request, response) => {
    const refreshToken = cookie.read(request);
    if (refreshToken === undefined)
      throw new ServiceError('authentication_required', 'there is no session: sign in');
    try {
      const refreshed = await inPlace(request, () => accounts.refreshCookie(refreshToken));
      signIn(request, response, signedInRecord(refreshed));
    } catch (error) {
      const isOver = error instanceof ServiceError && error.code === 'invalid_credentials';
      if (!isOver) throw error;
      cookie.clear(request, response);
      throw new ServiceError('invalid_credentials', 'the session has ended: sign in again');
    }
  };

  const logout: Handle = async (request, response) => {
    const refreshToken = cookie.read(request);
    if (refreshToken !== undefined) await accounts.logoutCookie(refreshToken);
    cookie.clear(request, response);
    send(response, 200, { ok: true });
  };

  /** What a page needs to know before a user is signed in. */
  const options: Handle = async (_request, response) =>
    send(response, 200, {
      is_new: await dependencies.users.isEmpty(),
      registration_open: dependencies.registrationOpen,
      first_admin: dependencies.firstAdmin,
      provider: oidcIssuer === undefined ? null : new URL(oidcIssuer).host,
    });

  const guarded =
    (methods: Readonly<Record<string, Handle>>): Handle =>
    async (request, response) => {
      const { method = '' } = request;
      const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (handle === undefined) {
        const allowed = Object.keys(methods).join(', ');
        response.setHeader('allow', allowed);
        throw new ServiceError('method_not_allowed', `use ${allowed}`);
      }
      if (!isSameOrigin(request))
        throw new ServiceError('origin_not_allowed', 'only pages of this service have a session');
      await handle(request, response);
    };

  return {
    [SESSION_PATH]: guarded({ GET: options, POST: login, DELETE: logout }),
    [`${SESSION_PATH}/register`]: guarded({ POST: register }),
    [`${SESSION_PATH}/refresh`]: guarded({ POST: refresh }),
  };
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> =>
  parseJson(await readBody(request, BODY_BYTES_MAX));

/** No cache may keep a token. */
function send(response: ServerResponse, status: number, body: object): void {
  sendJsonText(response, status, JSON.stringify(body), ['cache-control', 'no-store']);
}
