import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import {
  asObject,
  asText,
  isObject,
  parseJson,
  type JsonObject,
} from '@model-gateway/demo-model/answers';
import { createRing } from '../recording/ring.ts';
import { extend } from './extend.ts';
import type { Changes } from '../recording/changes.ts';
import type { FaultSource } from '../faults/fault-plan.ts';
import type { ListenOptions } from './listener.ts';
import type { RpcFault } from '../faults/rpc-faults.ts';
import { answerCall, type RpcConnection, type RpcMethod } from './json-rpc-call.ts';
import { hasBearer, startSocketServer, type RunningSocketServer } from './web-sockets.ts';

/** One frame as it arrived. */
export interface RecordedFrame {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: IncomingHttpHeaders;
  /** The whole frame. */
  readonly text: string;
}

/** A running JSON-RPC server. */
export interface RunningRpcServer extends RunningSocketServer {
  /** The newest frames, oldest first. */
  readonly frames: readonly RecordedFrame[];
  readonly frameCount: number;
  /** How often a method was called. */
  callsOf(method: string): number;
}

/** The common options of JSON-RPC servers. */
export interface RpcServerOptions extends ListenOptions {
  /** The bearer token that the upgrade requires; none by default. */
  readonly token?: string;
}

interface Service<Fault, Method extends string> {
  readonly methods: Readonly<Record<Method, RpcMethod<Fault>>>;
  readonly faults: FaultSource<Fault, Method>;
  readonly changes: Changes;
}

const KEPT_FRAMES_MAX = 500;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** Starts a JSON-RPC 2.0 server over WebSocket text frames. */
export async function startJsonRpcServer<
  Fault extends { readonly kind: string },
  Method extends string,
>(
  { token, ...options }: RpcServerOptions,
  { methods, faults, changes }: Service<Fault | RpcFault, Method>,
): Promise<RunningRpcServer> {
  const frames = createRing<RecordedFrame & { readonly bytes: number }>({
    itemsMax: KEPT_FRAMES_MAX,
    bytesMax: KEPT_BYTES_MAX,
    bytesOf: (frame) => frame.bytes,
  });
  const calls = new Map<string, number>();
  const isMethod = (name: string): name is Method => Object.hasOwn(methods, name);

  function onSocket(socket: WebSocket, request: IncomingMessage): void {
    const connection = connectionOf(socket, request);
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const frame = parseJson(text);
      const name = isObject(frame) ? asText(frame.method) : undefined;
      // Responses of the client are ignored.
      if (!isObject(frame) || name === undefined) return;
      const params = asObject(frame.params);
      frames.push({ method: name, params, headers: request.headers, text, bytes: data.length });
      calls.set(name, (calls.get(name) ?? 0) + 1);
      changes.notify();
      void answerCall({
        id: frame.id,
        name,
        params,
        connection,
        method: isMethod(name) ? methods[name] : undefined,
        faults: isMethod(name) ? faults.take(name) : [],
      }).finally(() => changes.notify());
    });
  }

  const server = await startSocketServer({
    ...options,
    changes,
    refuse: (request) => (hasBearer(request, token) ? undefined : 401),
    onSocket,
  });
  return extend(server, {
    get frames() {
      return frames.toArray();
    },
    get frameCount() {
      return frames.count;
    },
    callsOf: (method: string) => calls.get(method) ?? 0,
  });
}

function connectionOf(socket: WebSocket, request: IncomingMessage): RpcConnection {
  const controller = new AbortController();
  socket.on('close', () => controller.abort());
  const sendText = (text: string): void => {
    if (socket.readyState === socket.OPEN) socket.send(text);
  };
  return {
    headers: request.headers,
    closed: controller.signal,
    notify: (method, params) => sendText(JSON.stringify({ jsonrpc: '2.0', method, params })),
    sendText,
    terminate: () => socket.terminate(),
  };
}
