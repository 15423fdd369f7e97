import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { WebSocketServer, type WebSocket } from 'ws';

/** A fake gateway: accepts nodes with its token and calls them for tests. */
export interface FakeGateway {
  readonly url: string;
  /** Every frame of every connection. */
  readonly frames: readonly Frame[];
  /** How many connections there have been. */
  readonly connections: number;
  /** The models that the newest hello or heartbeat listed. */
  models(): readonly { model_id: string; status: string; port: number | null }[];
  /** Calls the node and waits for its response. */
  call(method: string, params: unknown): Promise<Frame>;
  /** Sends a notification on the current connection. */
  notify(method: string): void;
  /** Sets the interval that later welcomes name. */
  setHeartbeatSecs(seconds: number): void;
  /** Called for each later welcome, right after it was sent. */
  onWelcomed(listener: () => void): void;
  /** How many connections are open. */
  readonly open: number;
  /** Closes the current connection with a code, or terminates it. */
  disconnect(code?: number): void;
  /** Closes the oldest open connection. */
  closeOldest(code: number): void;
  close(): Promise<void>;
}

export interface Frame {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export const TOKEN = 'agt-of-the-tests';

// More often than a node needs it: on a busy machine this process may run only once in a while.
const PING_MS = 200;

export async function startFakeGateway(): Promise<FakeGateway> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const frames: Frame[] = [];
  let current: WebSocket | undefined;
  let connections = 0;
  let lastId = 100;
  let heartbeatSecs = 1;
  let onWelcomed = (): void => undefined;

  server.on('upgrade', (request, socket, head) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}` || request.url !== '/ws/agent') {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      connections += 1;
      current = opened;
      opened.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        frames.push(frame);
        if (frame.method !== 'Agent.Hello') return;
        const result = { agent_id: 'a', heartbeat_secs: heartbeatSecs };
        opened.send(JSON.stringify({ jsonrpc: '2.0', id: frame.id, result }));
        onWelcomed();
      });
    });
  });
  const pings = setInterval(() => {
    for (const socket of sockets.clients) socket.ping();
  }, PING_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    frames,
    get connections() {
      return connections;
    },
    models() {
      const report = frames.findLast(
        ({ method }) => method === 'Agent.Hello' || method === 'Agent.Heartbeat',
      );
      return (report?.params?.['models'] ?? []) as ReturnType<FakeGateway['models']>;
    },
    async call(method, params) {
      lastId += 1;
      const id = lastId;
      current?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      const find = (): Frame | undefined =>
        frames.find((frame) => frame.id === id && frame.method === undefined);
      await waitUntil(() => find() !== undefined, { what: `the response to ${method}` });
      return find() ?? {};
    },
    notify(method) {
      current?.send(JSON.stringify({ jsonrpc: '2.0', method, params: {} }));
    },
    setHeartbeatSecs(seconds) {
      heartbeatSecs = seconds;
    },
    onWelcomed(listener) {
      onWelcomed = listener;
    },
    get open() {
      return sockets.clients.size;
    },
    disconnect(code) {
      if (code === undefined) current?.terminate();
      else current?.close(code);
    },
    closeOldest(code) {
      const [first] = sockets.clients;
      first?.close(code);
    },
    async close() {
      clearInterval(pings);
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
