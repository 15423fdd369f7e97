import {
  createRpcClient,
  listAll,
  RpcCallError,
  type ListMethodName,
  type RpcClient,
} from '@model-gateway/client';
import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import type { CliConfig } from '../config.ts';
import type { CredentialFile } from '../credentials/credential-file.ts';
import { createSession, type Session } from '../credentials/session.ts';
import { adminTokenRequired, findAdminAccess, type AdminAccess } from './admin-token.ts';
import {
  bodyOf,
  RestError,
  sendRest,
  streamRest,
  type RestRequest,
  type RestResponse,
} from './rest.ts';

/** The service that commands talk to, as the signed-in user, as the admin, or without signing in. */
export interface Service {
  readonly url: string;
  readonly session: Session;
  /** A client without a token. */
  readonly anonymous: RpcClient;
  /** A client with the token of the user. */
  readonly user: RpcClient;
  /** Calls a method as the signed-in user; renews the token when the service refuses it. */
  call<Name extends RpcMethodName>(method: Name, params: RpcInput<Name>): Promise<RpcResult<Name>>;
  /** All pages of a list, as the signed-in user. */
  list<Name extends ListMethodName>(method: Name, params: RpcInput<Name>): Promise<RpcResult<Name>>;
  /** Calls a method with the admin token. */
  callAsAdmin<Name extends RpcMethodName>(
    method: Name,
    params: RpcInput<Name>,
  ): Promise<RpcResult<Name>>;
  /** Calls a method for admins: as the signed-in user, or with the admin token where there is no sign-in. */
  callAsAnyAdmin<Name extends RpcMethodName>(
    method: Name,
    params: RpcInput<Name>,
  ): Promise<RpcResult<Name>>;
  /** The body of a response to the signed-in user. */
  get(path: string): Promise<unknown>;
  /** The body of a response to the admin token. */
  requestAsAdmin(request: Omit<RestRequest, 'bearer'>): Promise<unknown>;
  /** The parts of the body of a response to the admin token. */
  streamAsAdmin(path: string): AsyncIterable<Uint8Array>;
  /** Any response, without a token. */
  probe(path: string, headers?: RestRequest['headers']): Promise<RestResponse>;
  /** The response to the holder of an API key. */
  tryKey(apiKey: string): Promise<RestResponse>;
  /** Where the admin token was found that may be sent to this service, in words; undefined without one. */
  adminTokenSource(): Promise<string | undefined>;
  close(): void;
}

interface ServiceOptions {
  readonly url: string;
  readonly config: CliConfig;
  readonly file: CredentialFile;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const AUTH_REFUSED = -32_005;
const UNAUTHORIZED = 401;

export function createService({ url, config, file, timeoutMs, signal }: ServiceOptions): Service {
  const options = { baseUrl: url, timeoutMs };
  const anonymous = createRpcClient(options);
  const session = createSession({
    file,
    url,
    refresh: (refresh_token) => anonymous.call('auth.refresh', { refresh_token }, { signal }),
  });
  const user = createRpcClient({ ...options, token: () => session.accessToken() });
  const findAccess = (): Promise<AdminAccess | undefined> => findAdminAccess({ config, file, url });
  const adminTokenSource = async (): Promise<string | undefined> => (await findAccess())?.source;
  const send = (request: RestRequest): Promise<RestResponse> =>
    sendRest(request, { baseUrl: url, timeoutMs, signal });

  /** The typed options of a call depend on its name, which is not known here. */
  const callWith = <Name extends RpcMethodName>(
    client: RpcClient,
    method: Name,
    params: RpcInput<Name>,
  ): Promise<RpcResult<Name>> =>
    (client.call as (...args: unknown[]) => Promise<RpcResult<Name>>)(method, params, { signal });

  /** Throws where no token of the admin is known. */
  async function requireAccess(): Promise<AdminAccess> {
    const access = await findAccess();
    if (access === undefined) throw adminTokenRequired(url, 'this command needs the admin token');
    return access;
  }

  const refused = () => adminTokenRequired(url, `${url} refused the admin token`);

  const call: Service['call'] = async (method, params) => {
    const token = await session.accessToken();
    try {
      return await callWith(user, method, params);
    } catch (error) {
      if (!(error instanceof RpcCallError) || error.code !== AUTH_REFUSED) throw error;
      await session.renew(token);
      return callWith(user, method, params);
    }
  };

  const callAsAdmin: Service['callAsAdmin'] = async (method, params) => {
    const access = await requireAccess();
    const admin = createRpcClient({
      baseUrl: access.url,
      timeoutMs,
      token: async () => access.token,
    });
    try {
      return await callWith(admin, method, params);
    } catch (error) {
      throw error instanceof RpcCallError && error.code === AUTH_REFUSED ? refused() : error;
    } finally {
      admin.close();
    }
  };

  return {
    url,
    session,
    anonymous,
    user,
    adminTokenSource,
    call,
    list: (method, params) => listAll(call, method, params),
    callAsAdmin,
    async callAsAnyAdmin(method, params) {
      const isSignedIn = (await session.stored()) !== undefined;
      return isSignedIn || (await adminTokenSource()) === undefined
        ? call(method, params)
        : callAsAdmin(method, params);
    },
    async get(path) {
      const token = await session.accessToken();
      const response = await send({ path, bearer: token });
      if (response.status !== UNAUTHORIZED) return bodyOf(response);
      return bodyOf(await send({ path, bearer: await session.renew(token) }));
    },
    async requestAsAdmin(request) {
      const { token, url: baseUrl } = await requireAccess();
      const response = await sendRest(
        { ...request, bearer: token },
        { baseUrl, timeoutMs, signal },
      );
      if (response.status === UNAUTHORIZED) throw refused();
      return bodyOf(response);
    },
    async *streamAsAdmin(path) {
      const { token, url: baseUrl } = await requireAccess();
      try {
        yield* streamRest({ path, bearer: token }, { baseUrl, timeoutMs, signal });
      } catch (error) {
        throw error instanceof RestError && error.status === UNAUTHORIZED ? refused() : error;
      }
    },
    probe: (path, headers) => send({ path, ...(headers && { headers }) }),
    tryKey: (bearer) => send({ path: '/v1/models', bearer }),
    close() {
      for (const client of [anonymous, user]) client.close();
    },
  };
}
