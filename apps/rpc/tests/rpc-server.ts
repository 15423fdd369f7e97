import { once } from 'node:events';
import {
  createTestContext,
  createTestAccount,
  rpcCall,
  type RpcAnswer,
  type TestContext,
  type TestAccount,
} from '@model-gateway/testkit';
import { WebSocket } from 'ws';
import { createRpc } from '../src/app.ts';
import { readRpcConfig } from '../src/config.ts';

export const ADMIN_TOKEN = 'the admin token of the tests';

/** A management plane on real stores. */
export interface RpcServer {
  readonly url: string;
  /** The paths that it serves. */
  readonly routes: readonly string[];
  readonly test: TestContext;
  call(method: string, params?: unknown, bearer?: string): Promise<RpcAnswer>;
  /** A new account; the first one is the admin. */
  createAccount(email: string): Promise<TestAccount>;
}

export async function startRpc(env: Readonly<Record<string, string>> = {}): Promise<RpcServer> {
  const test = await createTestContext();
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...env,
  });
  const app = createRpc(config, test.context);
  const url = await test.serve(app);
  const call: RpcServer['call'] = (method, params, bearer) => rpcCall(url, method, params, bearer);
  return {
    url,
    routes: app.routes,
    test,
    call,
    createAccount: (email) => createTestAccount(test.context, email),
  };
}

/** A WebSocket to the RPC server that buffers the received frames. */
export interface TestSocket {
  readonly socket: WebSocket;
  send(text: string): void;
  /** The next unread frame. */
  next(): Promise<string>;
  /** Sends a request and returns the next frame. */
  call(method: string, params?: unknown, id?: unknown): Promise<RpcAnswer>;
  readonly closed: Promise<number>;
}

export async function openSocket(
  baseUrl: string,
  token?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestSocket> {
  const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`;
  const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/api/rpc${query}`, { headers });
  const frames: string[] = [];
  const waiting: ((frame: string) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const frame = data.toString('utf8');
    const resolve = waiting.shift();
    if (resolve === undefined) frames.push(frame);
    else resolve(frame);
  });
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve);
  });
  await once(socket, 'open');
  const next = (): Promise<string> => {
    const frame = frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  };
  return {
    socket,
    send: (text) => socket.send(text),
    next,
    async call(method, params, id = 1) {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return JSON.parse(await next()) as RpcAnswer;
    },
    closed,
  };
}

const KEEPALIVE = ': keepalive';

/** An open event stream. */
export interface TestStream {
  readonly status: number;
  readonly headers: Headers;
  /** The next comment or data line, but for keepalives, which come at any time on a slow machine. */
  next(): Promise<string>;
  /** The next line of any kind. */
  nextLine(): Promise<string>;
  close(): void;
}

export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestStream> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const lines: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  async function nextLine(): Promise<string> {
    while (lines.length === 0) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) throw new Error('the stream ended');
      const parts = (rest + chunk.value).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts.filter((line) => line !== ''));
    }
    return lines.shift() ?? '';
  }
  return {
    status: response.status,
    headers: response.headers,
    nextLine,
    async next() {
      let line = await nextLine();
      while (line === KEEPALIVE) line = await nextLine();
      return line;
    },
    close: () => abort.abort(),
  };
}
