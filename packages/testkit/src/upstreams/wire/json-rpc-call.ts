import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { faultOf } from '../faults/fault-plan.ts';
import type { JsonObject } from '@model-gateway/demo-model/answers';
import type { RpcFault } from '../faults/rpc-faults.ts';

/** One client of a JSON-RPC server. */
export interface RpcConnection {
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the connection is closed. */
  readonly closed: AbortSignal;
  notify(method: string, params: unknown): void;
  /** Sends a raw frame. */
  sendText(text: string): void;
  /** Destroys the connection. */
  terminate(): void;
}

/** One call of a method. */
export interface RpcCall<Fault> {
  readonly params: JsonObject;
  readonly connection: RpcConnection;
  /** The faults of this call, for those that a method applies itself. */
  readonly faults: readonly Fault[];
  /** Runs something after the response is sent, such as notifications. */
  readonly afterAnswer: (follow: () => void) => void;
}

/** Handles a call; an exception becomes an error response. */
export type RpcMethod<Fault> = (call: RpcCall<Fault>) => unknown;

/** An error of a method for the caller. */
export class RpcMethodError extends Error {
  override readonly name = 'RpcMethodError';
  readonly code: number;

  constructor(message: string, code = APP_ERROR) {
    super(message);
    this.code = code;
  }
}

interface Incoming<Fault> {
  readonly id: unknown;
  readonly name: string;
  readonly params: JsonObject;
  readonly connection: RpcConnection;
  readonly method: RpcMethod<Fault> | undefined;
  readonly faults: readonly Fault[];
}

const APP_ERROR = -32_000;
const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** Applies the faults of one call and responds to it; a call without an id gets no response. */
export async function answerCall<Fault extends { readonly kind: string }>({
  id,
  name,
  params,
  connection,
  method,
  faults,
}: Incoming<Fault | RpcFault>): Promise<void> {
  const rpcFaults = faults.filter(isRpcFault);
  const slow = faultOf(rpcFaults, 'slow');
  if (slow !== undefined) {
    await pause(slow.delayMs, undefined, { signal: connection.closed }).catch(() => undefined);
  }
  if (faultOf(rpcFaults, 'silent') !== undefined) return;
  if (faultOf(rpcFaults, 'close') !== undefined) return connection.terminate();
  if (faultOf(rpcFaults, 'garbage') !== undefined) return connection.sendText('{"jsonrpc": "2.');

  const respond = (outcome: JsonObject): void => {
    if (id !== undefined) connection.sendText(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  };
  const failure = faultOf(rpcFaults, 'error');
  if (failure !== undefined) {
    const { code = APP_ERROR, message = 'planned failure' } = failure;
    return respond({ error: { code, message } });
  }
  if (method === undefined) {
    return respond({ error: { code: METHOD_NOT_FOUND, message: `Method not found: ${name}` } });
  }
  const follows: (() => void)[] = [];
  try {
    const afterAnswer = (follow: () => void): void => void follows.push(follow);
    respond({ result: await method({ params, connection, faults, afterAnswer }) });
  } catch (error) {
    const code = error instanceof RpcMethodError ? error.code : INTERNAL_ERROR;
    return respond({ error: { code, message: error instanceof Error ? error.message : 'failed' } });
  }
  for (const follow of follows) follow();
  return undefined;
}

const KINDS: Readonly<Record<RpcFault['kind'], true>> = {
  error: true,
  garbage: true,
  silent: true,
  slow: true,
  close: true,
};

function isRpcFault(fault: { readonly kind: string }): fault is RpcFault {
  return Object.hasOwn(KINDS, fault.kind);
}
