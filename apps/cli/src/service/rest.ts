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
export async function sendRest(
  { method = 'GET', path, bearer, body }: RestRequest,
  { baseUrl, timeoutMs, signal }: RestOptions,
): Promise<RestResponse> {
  const url = `${baseUrl}${path}`;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([timeout, signal]),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: parsed(await response.text()),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.aborted) {
      throw new RpcConnectionError('timeout', `no response within ${timeoutMs} ms`);
    }
    throw new RpcConnectionError('network', `cannot reach ${url}`, { cause: error });
  }
}

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
