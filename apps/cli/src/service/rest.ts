import { RpcConnectionError } from '@model-gateway/client';

const TEXT_CHARS_MAX = 300;

/** The service refused a REST request. */
export class RestError extends Error {
  override readonly name = 'RestError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface RestRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly bearer?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; the text itself where it is no JSON. */
  readonly body: unknown;
}

interface RestOptions {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends a request and returns any response. Throws `RpcConnectionError` when none arrives. */
export async function sendRest(request: RestRequest, options: RestOptions): Promise<RestResponse> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  return connected(request, options, timeout, async () =>
    responseOf(await fetched(request, options, timeout)),
  );
}

/** The parts of the body of a successful response, as they arrive; only the headers have a time limit. */
export async function* streamRest(
  request: RestRequest,
  options: RestOptions,
): AsyncGenerator<Uint8Array> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), options.timeoutMs);
  try {
    const response = await connected(request, options, timeout.signal, () =>
      fetched(request, options, timeout.signal),
    );
    clearTimeout(timer);
    if (!response.ok) bodyOf(await responseOf(response));
    if (response.body !== null) yield* response.body;
  } finally {
    clearTimeout(timer);
  }
}

const fetched = (
  { method = 'GET', path, bearer, body, headers }: RestRequest,
  { baseUrl, signal }: RestOptions,
  timeout: AbortSignal,
): Promise<Response> =>
  fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([timeout, signal]),
  });

/** Says why no response arrived. */
async function connected<Result>(
  { path }: RestRequest,
  { baseUrl, timeoutMs, signal }: RestOptions,
  timeout: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.aborted) {
      throw new RpcConnectionError('timeout', `no response within ${timeoutMs} ms`);
    }
    throw new RpcConnectionError('network', `cannot reach ${baseUrl}${path}`, { cause: error });
  }
}

const responseOf = async (response: Response): Promise<RestResponse> => ({
  status: response.status,
  headers: response.headers,
  body: parsed(await response.text()),
});

/** The body of a successful response; throws `RestError` for any other. */
export function bodyOf({ status, body }: RestResponse): unknown {
  if (status >= 200 && status < 300) return body;
  const code = errorOf(body)?.['code'];
  throw new RestError(status, typeof code === 'string' ? code : '', messageOf({ status, body }));
}

/** The message of a refusal. */
export function messageOf({ status, body }: Pick<RestResponse, 'status' | 'body'>): string {
  const message = errorOf(body)?.['message'];
  if (typeof message === 'string') return message;
  return typeof body === 'string' && body !== '' ? body.slice(0, TEXT_CHARS_MAX) : `HTTP ${status}`;
}

const errorOf = (body: unknown): Readonly<Record<string, unknown>> | undefined =>
  isObject(body) && isObject(body['error']) ? body['error'] : undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a value is an object whose fields can be read. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
