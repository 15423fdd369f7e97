import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { faultOf, type JsonObject } from '@model-gateway/demo-model/server-parts';
import type { RpcFault } from '../faults/rpc-faults.ts';

/** One client of a JSON-RPC server. */
export interface RpcConnection {
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  notify(method: string, params: unknown): void;
  /** Sends a frame as it is. */
  sendText(text: string): void;
  /** Ends the connection at once. */
  terminate(): void;
}

/** One call of a method. */
export interface RpcCall<Fault> {
  readonly params: JsonObject;
  readonly connection: RpcConnection;
  /** The faults this call meets, for those that a method plays itself. */
  readonly faults: readonly Fault[];
  /** Runs something once the answer is on the wire, such as the notifications that follow it. */
  readonly afterAnswer: (follow: () => void) => void;
}

/** Answers a call; what it throws is answered as an error. */
export type RpcMethod<Fault> = (call: RpcCall<Fault>) => unknown;

/** A refusal that a method throws and the caller reads. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal';
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

/** Plays the faults of one call and answers it; a call without an id is run and not answered. */
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
    await pause(slow.delayMs, undefined, { signal: connection.gone }).catch(() => undefined);
  }
  if (faultOf(rpcFaults, 'silent') !== undefined) return;
  if (faultOf(rpcFaults, 'close') !== undefined) return connection.terminate();
  if (faultOf(rpcFaults, 'garbage') !== undefined) return connection.sendText('{"jsonrpc": "2.');

  const answer = (outcome: JsonObject): void => {
    if (id !== undefined) connection.sendText(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  };
  const failure = faultOf(rpcFaults, 'error');
  if (failure !== undefined) {
    const { code = APP_ERROR, message = 'planned failure' } = failure;
    return answer({ error: { code, message } });
  }
  if (method === undefined) {
    return answer({ error: { code: METHOD_NOT_FOUND, message: `Method not found: ${name}` } });
  }
  const follows: (() => void)[] = [];
  try {
    const afterAnswer = (follow: () => void): void => void follows.push(follow);
    answer({ result: await method({ params, connection, faults, afterAnswer }) });
  } catch (error) {
    const code = error instanceof RpcRefusal ? error.code : INTERNAL_ERROR;
    return answer({ error: { code, message: error instanceof Error ? error.message : 'failed' } });
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
