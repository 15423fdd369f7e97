import { once } from 'node:events';
import { WebSocket } from 'ws';
import { asObject, parseJson, type JsonObject } from '@model-gateway/demo-model/answers';

/** A WebSocket client for the tests of these servers. It reads frames one by one and misses none. */
export interface SocketClient {
  send(value: unknown): void;
  /** The next frame; `{raw}` when it is not JSON. */
  next(): Promise<JsonObject>;
  /** The frames up to and including the first that matches. */
  readUntil(isLast: (frame: JsonObject) => boolean): Promise<readonly JsonObject[]>;
  /** A JSON-RPC call; resolves with its response and skips notifications. */
  call(method: string, params?: JsonObject): Promise<JsonObject>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
  close(): void;
}

/** Connects; rejects if the server rejects the upgrade. */
export async function connectSocket(url: string, bearer?: string): Promise<SocketClient> {
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const socket = new WebSocket(url, { headers });
  const waiting: ((frame: JsonObject) => void)[] = [];
  const arrived: JsonObject[] = [];
  let lastId = 0;
  const closed = new Promise<number>((resolve) => {
    socket.on('close', resolve);
  });
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    const parsed = parseJson(text);
    const frame = parsed === undefined ? { raw: text } : asObject(parsed);
    const waiter = waiting.shift();
    if (waiter === undefined) arrived.push(frame);
    else waiter(frame);
  });
  await once(socket, 'open');

  const next = (): Promise<JsonObject> => {
    const frame = arrived.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  };
  async function readUntil(isLast: (frame: JsonObject) => boolean): Promise<JsonObject[]> {
    const frame = await next();
    return isLast(frame) ? [frame] : [frame, ...(await readUntil(isLast))];
  }
  const send = (value: unknown): void => socket.send(JSON.stringify(value));
  return {
    send,
    next,
    readUntil,
    async call(method, params = {}) {
      lastId += 1;
      const id = lastId;
      send({ jsonrpc: '2.0', id, method, params });
      return (await readUntil((frame) => frame.id === id)).at(-1) ?? {};
    },
    closed,
    close: () => socket.close(),
  };
}
