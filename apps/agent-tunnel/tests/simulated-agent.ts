import { once } from 'node:events';
import { waitUntil } from '@model-gateway/testkit';
import { WebSocket } from 'ws';

/** A node that sends the frames of a test. */
export interface SimulatedAgent {
  readonly socket: WebSocket;
  /** Every received text frame. */
  readonly frames: readonly Frame[];
  send(frame: unknown): void;
  notify(method: string, params: unknown): void;
  heartbeat(params?: unknown): void;
  /** How the connection ended. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Waits for a call of the gateway that has no response yet. */
  nextCall(method: string): Promise<{ readonly params: Record<string, unknown>; respond: Respond }>;
}

type Respond = (outcome: { readonly result: unknown } | { readonly error: string }) => void;

export interface Frame {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

interface HelloOptions {
  readonly models?: readonly { model_id: string; status: string; port: number | null }[];
  readonly gpus?: readonly unknown[];
  readonly host?: string;
  /** The version of the HTTP tunnel that it supports. */
  readonly tunnel?: number;
  /** Headers of the upgrade. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens the WebSocket and sends nothing. */
export async function openAgent(
  tunnelUrl: string,
  token: string,
  { inQuery = false, headers = {} } = {},
): Promise<SimulatedAgent> {
  const url = `${tunnelUrl.replace('http', 'ws')}/ws/agent`;
  const socket = inQuery
    ? new WebSocket(`${url}?token=${token}`)
    : new WebSocket(url, { headers: { ...headers, authorization: `Bearer ${token}` } });
  const frames: Frame[] = [];
  const handled = new Set<Frame>();
  socket.on('message', (data: Buffer, isBinary) => {
    // Binary frames of the tunnel are ignored here.
    if (!isBinary) frames.push(JSON.parse(data.toString()) as Frame);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await once(socket, 'open');
  const send = (frame: unknown): void =>
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  const notify = (method: string, params: unknown): void =>
    send({ jsonrpc: '2.0', method, params });
  return {
    socket,
    frames,
    send,
    notify,
    heartbeat: (params = {}) => notify('Agent.Heartbeat', params),
    closed,
    async nextCall(method) {
      const find = (): Frame | undefined =>
        frames.find((frame) => frame.method === method && !handled.has(frame));
      await waitUntil(() => find() !== undefined, { what: `a call of ${method}` });
      const frame = find();
      if (frame === undefined) throw new Error('call not found');
      handled.add(frame);
      return {
        params: frame.params ?? {},
        respond: (outcome) =>
          send({
            jsonrpc: '2.0',
            id: frame.id,
            ...('error' in outcome
              ? { error: { code: -32_000, message: outcome.error } }
              : { result: outcome.result }),
          }),
      };
    },
  };
}

/** Connects and sends the hello; resolves when the response has arrived. */
export async function connectAgent(
  tunnelUrl: string,
  token: string,
  { models = [], gpus = [], host, tunnel, headers }: HelloOptions = {},
): Promise<SimulatedAgent> {
  const agent = await openAgent(tunnelUrl, token, { headers: headers ?? {} });
  const params = { version: '9.9.9', gpus, models, host, tunnel };
  agent.send({ jsonrpc: '2.0', id: 'hello', method: 'Agent.Hello', params });
  await waitUntil(() => agent.frames.some(({ id }) => id === 'hello'), { what: 'the welcome' });
  return agent;
}
