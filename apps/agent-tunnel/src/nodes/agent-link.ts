import {
  AGENT_METHODS,
  type AgentHeartbeat,
  type AgentHello,
  type AgentProgress,
} from '@model-gateway/contracts';
import { describeError, errorCode, startPeerTimeout, type Log } from '@model-gateway/kernel';
import { serializeMessage } from '@model-gateway/json-rpc';
import { createTunnel, type Exchange } from '@model-gateway/tunnel';
import type { RawData, WebSocket } from 'ws';
import { createAgentCalls, type AgentCalls } from './agent-calls.ts';
import { createAgentProtocol, type FrameRefusal } from './agent-protocol.ts';
import type { FrameAllowance } from './frame-allowance.ts';

/** The open WebSocket of a node. */
export interface AgentLink {
  readonly calls: Pick<AgentCalls, 'call'>;
  /** Sends the response to the hello. */
  welcome(welcome: unknown): void;
  /** Opens an HTTP exchange with the node. */
  openExchange(head: unknown): Exchange;
  readonly exchanges: number;
  /** Asks the node to open a new connection before this one is closed. */
  askToMove(): void;
  close(code: number, reason: string): void;
}

/** The events of a link. */
export interface AgentLinkEvents {
  readonly onHello: (hello: AgentHello) => void;
  readonly onHeartbeat: (heartbeat: AgentHeartbeat) => void;
  readonly onProgress: (progress: AgentProgress) => void;
  readonly isDeploying: (streamId: string, modelId: string) => boolean;
  /** Called once, when the connection has ended. */
  readonly onClosed: (reason: string) => void;
}

export interface AgentLinkOptions {
  readonly socket: WebSocket;
  readonly agentId: string;
  readonly events: AgentLinkEvents;
  readonly heartbeatMs: number;
  /** The connection ends after this time without a heartbeat. */
  readonly timeoutMs: number;
  readonly allowance: FrameAllowance;
  readonly onRefused: () => void;
  /** The node has sent more than its allowance. */
  readonly onDelayed: () => void;
  readonly log: Log;
}

const HELLO_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const CLOSE_REFUSED = 1008;
const REASON_BYTES_MAX = 120;
const TOO_FAST = 'an agent sends more than its allowance; its frames are read later';

export function createAgentLink(options: AgentLinkOptions): AgentLink {
  const { socket, agentId, events, heartbeatMs, timeoutMs, allowance } = options;
  const log = options.log.child({ agentId });
  const protocol = createAgentProtocol({ agentId, isDeploying: events.isDeploying });
  const calls = createAgentCalls((text) => socket.send(text));
  const logged = new Set<string>();
  let helloId: string | number | undefined;
  let isWelcomed = false;
  let isOver = false;
  let pause: NodeJS.Timeout | undefined;

  const tunnel = createTunnel({
    send(frame, onSent) {
      // A closing socket sends nothing more, so its senders must not wait for it.
      if (socket.readyState === socket.OPEN) socket.send(frame, () => onSent());
      else setImmediate(onSent);
    },
  });
  let deadline = startPeerTimeout(HELLO_TIMEOUT_MS, () =>
    refuse({
      kind: 'refused',
      why: `no hello within ${HELLO_TIMEOUT_MS / 1000} seconds`,
      isFatal: true,
    }),
  );
  // Pings let the node notice a broken connection.
  const pings = setInterval(() => socket.ping(), heartbeatMs);

  function end(reason: string): void {
    if (isOver) return;
    isOver = true;
    deadline.stop();
    clearInterval(pings);
    clearTimeout(pause);
    socket.terminate();
    calls.close('the agent disconnected');
    tunnel.close('the agent disconnected');
    events.onClosed(reason);
  }

  function close(code: number, reason: string): void {
    if (socket.readyState === socket.CLOSING) return;
    if (socket.readyState !== socket.OPEN) return end(reason);
    socket.close(code, Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString());
    setTimeout(() => end(reason), CLOSE_TIMEOUT_MS).unref();
  }

  function refuse({ why, reply, isFatal }: FrameRefusal): void {
    options.onRefused();
    if (!logged.has(why)) log.warn({ why }, 'refused a frame of an agent');
    logged.add(why);
    if (reply !== undefined) socket.send(reply);
    if (isFatal) close(CLOSE_REFUSED, why);
  }

  /** Pauses reading from a node that has sent more than its allowance, until the allowance covers it again. */
  function delayReading(): void {
    const waitMs = allowance.waitMs();
    if (waitMs === 0 || pause !== undefined || isOver) return;
    if (!logged.has(TOO_FAST)) log.warn({}, TOO_FAST);
    logged.add(TOO_FAST);
    options.onDelayed();
    socket.pause();
    pause = setTimeout(() => {
      pause = undefined;
      delayReading();
      if (pause === undefined) socket.resume();
    }, waitMs);
  }

  function onText(text: string): void {
    const frame = protocol.receive(text);
    switch (frame.kind) {
      case 'refused':
        return refuse(frame);
      case 'hello':
        helloId = frame.id;
        deadline.stop();
        deadline = startPeerTimeout(timeoutMs, () => end('no heartbeat in time'));
        return events.onHello(frame.hello);
      case 'heartbeat':
        deadline.refresh();
        if (frame.reply !== undefined) socket.send(frame.reply);
        return events.onHeartbeat(frame.heartbeat);
      case 'progress':
        if (frame.reply !== undefined) socket.send(frame.reply);
        return events.onProgress(frame.progress);
      case 'response':
        if (calls.settle(frame.id, frame.outcome)) return;
        return refuse({ kind: 'refused', why: 'response to an unknown call', isFatal: false });
    }
  }

  function onBinary(bytes: Buffer): void {
    if (!isWelcomed) throw new Error('frame before the hello');
    tunnel.receive(bytes);
  }

  socket.on('message', (data, isBinary) => {
    if (isOver || socket.readyState !== socket.OPEN) return;
    const bytes = bytesOf(data);
    if (isBinary) allowance.onTunnelFrame();
    else allowance.onControlFrame(bytes.length);
    delayReading();
    if (!isBinary) return onText(bytes.toString('utf8'));
    try {
      onBinary(bytes);
    } catch (error) {
      refuse({ kind: 'refused', why: describeError(error), isFatal: true });
    }
  });
  for (const event of ['ping', 'pong'] as const) {
    socket.on(event, () => {
      allowance.onControlFrame(0);
      delayReading();
    });
  }
  allowance.onConnection();
  delayReading();
  socket.on('error', (error) => {
    const isOversized = errorCode(error) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    if (isOversized) refuse({ kind: 'refused', why: 'frame too large', isFatal: false });
    else log.debug({ reason: describeError(error) }, 'the connection of an agent failed');
  });
  socket.on('close', (code) => end(`the connection was closed (${code})`));

  return {
    calls,
    welcome(welcome) {
      isWelcomed = true;
      socket.send(serializeMessage({ id: helloId, result: welcome }));
    },
    openExchange: (head) => tunnel.open(head),
    get exchanges() {
      return tunnel.size;
    },
    askToMove() {
      if (socket.readyState === socket.OPEN)
        socket.send(serializeMessage({ method: AGENT_METHODS.move, params: {} }));
    },
    close,
  };
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
