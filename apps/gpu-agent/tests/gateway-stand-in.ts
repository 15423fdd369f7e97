import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { WebSocketServer, type WebSocket } from 'ws';

/** Stands in for the gateway: lets nodes in that have its token, and asks of them what a test wants. */
export interface GatewayStandIn {
  readonly url: string;
  /** Every frame of every connection. */
  readonly frames: readonly Frame[];
  /** How many connections there have been. */
  readonly connections: number;
  /** The models that the newest hello or heartbeat listed. */
  models(): readonly { model_id: string; status: string; port: number | null }[];
  /** Calls the node and waits for its answer. */
  call(method: string, params: unknown): Promise<Frame>;
  /** Tells the node something on the present connection. */
  notify(method: string): void;
  /** How many connections are open. */
  readonly open: number;
  /** Ends the present connection with a code, or cuts it. */
  hangUp(code?: number): void;
  /** Ends the oldest connection that is open. */
  hangUpFirst(code: number): void;
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

export async function startGatewayStandIn(heartbeatSecs = 1): Promise<GatewayStandIn> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const frames: Frame[] = [];
  let current: WebSocket | undefined;
  let connections = 0;
  let lastId = 100;

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
      });
    });
  });
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
      const told = frames.findLast(
        ({ method }) => method === 'Agent.Hello' || method === 'Agent.Heartbeat',
      );
      return (told?.params?.['models'] ?? []) as ReturnType<GatewayStandIn['models']>;
    },
    async call(method, params) {
      lastId += 1;
      const id = lastId;
      current?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      const find = (): Frame | undefined =>
        frames.find((frame) => frame.id === id && frame.method === undefined);
      await waitUntil(() => find() !== undefined, { what: `the answer to ${method}` });
      return find() ?? {};
    },
    notify(method) {
      current?.send(JSON.stringify({ jsonrpc: '2.0', method, params: {} }));
    },
    get open() {
      return sockets.clients.size;
    },
    hangUp(code) {
      if (code === undefined) current?.terminate();
      else current?.close(code);
    },
    hangUpFirst(code) {
      const [first] = sockets.clients;
      first?.close(code);
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
