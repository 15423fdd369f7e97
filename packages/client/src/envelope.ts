import { isRpcFailure } from '@model-gateway/json-rpc';
import { randomId } from './random-id.ts';
import { RpcCallError, RpcConnectionError } from './rpc-errors.ts';

/** A JSON-RPC request on the wire. */
export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
}

/** A JSON-RPC response on the wire. */
export interface RpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const createRequest = (method: string, params: unknown): RpcRequest => ({
  jsonrpc: '2.0',
  id: randomId(),
  method,
  params: params ?? {},
});

/** Whether a value is a JSON-RPC response. */
export function isResponse(value: unknown): value is RpcResponse {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { error } = value;
  return isObject(error) ? isRpcFailure(error) : 'result' in value;
}

/** The result of a response; throws its error if it has one. */
export function resultOf({ error, result }: RpcResponse): unknown {
  if (error === undefined) return result;
  throw new RpcCallError(error.code, error.message, error.data);
}

/** Parses JSON that the service sent. */
export function parseJson(text: string, status?: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RpcConnectionError('bad-answer', 'the response is not valid JSON', {
      cause,
      ...(status === undefined ? {} : { status }),
    });
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
