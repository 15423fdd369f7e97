import {
  createRpcClient,
  isListMethod,
  listAll,
  RpcCallError,
  type RpcCallArguments,
  type RpcSubscription,
} from '@model-gateway/client';
import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import { queryOptions } from '@tanstack/react-query';
import { problemOf } from './problem.ts';
import { HttpError, type Session } from './session.ts';

/** Everything that the page asks of the service. */
export interface Api {
  readonly session: Session;
  /** Calls a method of the management plane. A token that has ended is replaced, once. */
  call<Name extends RpcMethodName>(
    method: Name,
    ...rest: RpcCallArguments<Name>
  ): Promise<RpcResult<Name>>;
  /** The options of a query for a method that only reads: `useQuery(api.query('keys.list'))`. Lists have all their pages. */
  query<Name extends RpcMethodName>(
    method: Name,
    params?: RpcInput<Name>,
  ): ReturnType<typeof queryFor<Name>>;
  /** Listens to a session of the event stream. */
  subscribe(sessionId: string, signal?: AbortSignal): RpcSubscription;
  /** Requests a path of the REST API, such as `/v1/models`. */
  rest<Result>(path: string, init?: RestRequest): Promise<Result>;
  /** The file at a path, such as `/api/usage.csv`. */
  file(path: string): Promise<Blob>;
}

interface RestRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly bearer?: string;
  readonly signal?: AbortSignal;
}

const AUTHENTICATION_REQUIRED = -32_005;

/** Not so where a field is named: a wrong password that is sent again would count twice. */
const isTokenRefused = (error: unknown): boolean =>
  error instanceof RpcCallError &&
  error.code === AUTHENTICATION_REQUIRED &&
  Object.keys(problemOf(error).fields).length === 0;

type Call = Api['call'];

function queryFor<Name extends RpcMethodName>(call: Call, method: Name, params: RpcInput<Name>) {
  return queryOptions({
    queryKey: [method, params] as const,
    queryFn: ({ signal }): Promise<RpcResult<Name>> => {
      const callOnce = (given: object): Promise<never> =>
        (call as (...args: unknown[]) => Promise<never>)(method, given, { signal });
      return isListMethod(method)
        ? listAll((_method, page) => callOnce(page), method, params as never)
        : callOnce(params);
    },
  });
}

export function createApi(session: Session, baseUrl: string): Api {
  const client = createRpcClient({
    baseUrl,
    token: () => session.token(),
    fetch: (input, init) => fetch(input, init),
  });

  const call: Call = async (method, ...others) => {
    try {
      return await client.call(method, ...others);
    } catch (error) {
      if (!isTokenRefused(error) || session.getState().status !== 'signed-in') throw error;
      if ((await session.renew()) === undefined) throw error;
      return client.call(method, ...others);
    }
  };

  async function respond(path: string, request: RestRequest): Promise<Response> {
    const send = async (bearer: string | undefined): Promise<Response> =>
      fetch(path, {
        method: request.method ?? 'GET',
        headers: {
          accept: 'application/json',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
    let response = await send(request.bearer ?? (await session.token()));
    if (response.status === 401 && request.bearer === undefined) {
      const renewed = await session.renew();
      if (renewed !== undefined) response = await send(renewed);
    }
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => undefined);
    throw new HttpError(response, (body as { error?: { message?: string } } | undefined)?.error);
  }

  async function rest<Result>(path: string, request: RestRequest = {}): Promise<Result> {
    const response = await respond(path, request);
    return (await response.json().catch(() => undefined)) as Result;
  }

  return {
    session,
    call,
    query: (method, params) => queryFor(call, method, params ?? ({} as typeof params & object)),
    subscribe: (sessionId, signal) =>
      client.subscribe(sessionId, signal === undefined ? {} : { signal }),
    rest,
    file: async (path) => (await respond(path, {})).blob(),
  };
}
