import {
  AGENT_CLOSE_CODES,
  AGENT_FRAME_BYTES_MAX,
  AGENT_HEARTBEAT_SECS_MAX,
  AGENT_HEARTBEAT_SECS_MIN,
  AGENT_METHODS,
  agentWelcomeSchema,
} from '@model-gateway/contracts';
import {
  createDeferred,
  describeError,
  startPeerTimeout,
  tryParseJson,
  type Log,
} from '@model-gateway/kernel';
import { isMessage, serializeMessage, RPC_ERRORS, type RpcMessage } from '@model-gateway/json-rpc';
import { createTunnel, type Exchange } from '@model-gateway/tunnel';
import { WebSocket, type RawData } from 'ws';

/** One connection to the gateway, from its opening to its end. */
export interface Link {
  readonly notify: Notify;
  /** Resolves with the response to the hello; rejects when the connection ends before. */
  readonly welcomed: Promise<{ readonly heartbeatMs: number }>;
  /** Resolves with why it ended, and whether to reconnect. */
  readonly ended: Promise<LinkEnd>;
  close(): void;
}

/** Sends a notification to the gateway if the connection is open. */
export type Notify = (method: string, params: unknown) => void;

export interface LinkEnd {
  readonly reason: string;
  readonly isFinal: boolean;
}

interface LinkOptions {
  readonly url: string;
  readonly token: string;
  readonly hello: () => Promise<unknown>;
  /** Handles a call of the gateway; a rejection is sent as an error. */
  readonly onCall: (method: string, params: unknown, notify: Notify) => Promise<unknown>;
  /** A request for a model of this node. */
  readonly onExchange: (head: unknown, exchange: Exchange) => void;
  /** The gateway process is stopping: open another connection before this one closes. */
  readonly onMove: () => void;
  readonly log: Log;
}

const HELLO_ID = 1;
const CONNECT_TIMEOUT_MS = 10_000;
const WELCOME_TIMEOUT_MS = 15_000;
/** The gateway pings at the heartbeat interval; after this many missing pings the connection counts as lost. */
const MISSED_PINGS_MAX = 3;
const CLOSE_TIMEOUT_MS = 2_000;
const FAILED = -32_000;
const HTTP_UNAUTHORIZED = 401;
const UNUSABLE_WELCOME =
  'the gateway did not name its heartbeat interval, which must be from ' +
  `${AGENT_HEARTBEAT_SECS_MIN} to ${AGENT_HEARTBEAT_SECS_MAX} seconds (SERVICE_AGENT_HEARTBEAT_SECS)`;

/** Thrown for a method that this node does not know. */
export class UnknownMethod extends Error {}

export function openLink(options: LinkOptions): Link {
  const { url, token, hello, onCall, onExchange, onMove, log } = options;
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: AGENT_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  const tunnel = createTunnel({
    onOpen: onExchange,
    send(frame, onSent) {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, () => onSent());
      else setImmediate(onSent);
    },
  });
  const welcomed = createDeferred<{ readonly heartbeatMs: number }>();
  const ended = createDeferred<LinkEnd>();
  let silence = startPeerTimeout(WELCOME_TIMEOUT_MS, () =>
    end('the gateway did not respond to the hello'),
  );

  function end(reason: string, isFinal = false): void {
    silence.stop();
    socket.terminate();
    tunnel.close('the connection to the gateway is closed');
    welcomed.reject(new Error(reason));
    ended.resolve({ reason, isFinal });
  }

  const send = (message: RpcMessage): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(serializeMessage(message));
  };

  const notify: Notify = (method, params) => send({ method, params });

  async function respond(id: string | number, method: string, params: unknown): Promise<void> {
    try {
      send({ id, result: await onCall(method, params, notify) });
    } catch (error) {
      const code = error instanceof UnknownMethod ? RPC_ERRORS.methodNotFound : FAILED;
      send({ id, error: { code, message: describeError(error) } });
    }
  }

  function onWelcome(result: unknown): void {
    const welcome = agentWelcomeSchema.safeParse(result);
    if (!welcome.success) return end(UNUSABLE_WELCOME);
    const heartbeatMs = welcome.data.heartbeat_secs * 1_000;
    silence.stop();
    silence = startPeerTimeout(heartbeatMs * MISSED_PINGS_MAX, () =>
      end('no ping from the gateway in time'),
    );
    welcomed.resolve({ heartbeatMs });
  }

  function onText(text: string): void {
    const message = tryParseJson(text);
    if (!isMessage(message)) throw new Error('a frame that is not JSON-RPC');
    const { id, method, params, result, error } = message;
    if (method !== undefined) {
      if (id !== undefined && id !== null) void respond(id, method, params);
      else if (method === AGENT_METHODS.move) onMove();
      return;
    }
    if (id !== HELLO_ID) return;
    if (error !== undefined) end(`the gateway refused the hello: ${error.message}`);
    else onWelcome(result);
  }

  socket.on('message', (data, isBinary) => {
    silence.refresh();
    try {
      const bytes = bytesOf(data);
      if (isBinary) tunnel.receive(bytes);
      else onText(bytes.toString('utf8'));
    } catch (error) {
      end(`the gateway sent an invalid frame: ${describeError(error)}`);
    }
  });
  socket.on('ping', () => silence.refresh());
  socket.on('open', () => {
    hello().then(
      (params) => send({ id: HELLO_ID, method: AGENT_METHODS.hello, params }),
      (error: unknown) => end(describeError(error)),
    );
  });
  socket.on('unexpected-response', (_request, response) => {
    const { statusCode } = response;
    response.resume();
    end(
      statusCode === HTTP_UNAUTHORIZED
        ? 'the gateway does not accept this token: register the node again'
        : `the gateway returned HTTP ${statusCode}`,
      statusCode === HTTP_UNAUTHORIZED,
    );
  });
  socket.on('error', (error) => {
    log.debug({ reason: describeError(error) }, 'the connection failed');
    end(`the gateway cannot be reached: ${describeError(error)}`);
  });
  socket.on('close', (code, reason) => {
    end(...reasonOf(code, reason.toString('utf8')));
  });

  return {
    notify,
    welcomed: welcomed.promise,
    ended: ended.promise,
    close() {
      if (socket.readyState !== WebSocket.OPEN) return end('closed');
      socket.close(1000, 'the node is stopping');
      setTimeout(() => end('closed'), CLOSE_TIMEOUT_MS).unref();
    },
  };
}

function reasonOf(code: number, text: string): [string, boolean] {
  if (code === AGENT_CLOSE_CODES.replaced)
    return ['another process has connected with the token of this node', true];
  if (code === AGENT_CLOSE_CODES.deregistered) return ['this node was deregistered', true];
  return [`the gateway closed the connection (${code}${text === '' ? '' : `: ${text}`})`, false];
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
