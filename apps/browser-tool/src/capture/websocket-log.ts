import type { LogContext } from './log-context.ts';
import { textBytes, type StoredSize } from './byte-budget.ts';
import { clipText } from './clip-text.ts';
import { createRing, selectEntries, type Ring } from './ring.ts';

const CONNECTIONS_MAX = 200;
const FRAMES_MAX = 500;
const PAYLOAD_BYTES_MAX = 64 * 1024;
const URL_CHARS_MAX = 10_000;
const ERROR_CHARS_MAX = 2_000;

/** A WebSocket of a page, as callers see it. */
export interface WebSocketConnection {
  readonly id: string;
  readonly url: string;
  readonly state: 'connecting' | 'open' | 'closed' | 'error';
  readonly created_at_ms: number;
  readonly closed_at_ms: number | null;
  readonly frames_sent: number;
  readonly frames_received: number;
  readonly bytes: number;
  readonly error?: string;
}

/** One frame: its text, or base64 where it is binary. */
export interface WebSocketFrame {
  readonly seq: number;
  readonly direction: 'sent' | 'received';
  readonly opcode: number;
  readonly text?: string;
  readonly base64?: string;
  readonly size: number;
  readonly timestamp: string;
  readonly truncated: boolean;
}

export interface NewWebSocketFrame {
  readonly direction: 'sent' | 'received';
  readonly opcode: number;
  /** Text, or base64 where the opcode says binary. */
  readonly payload: string;
}

export interface WebSocketLog {
  /** Returns the id of the connection. */
  open(url: string): string;
  /** The handshake is done. */
  opened(id: string): void;
  frame(id: string, frame: NewWebSocketFrame): void;
  fail(id: string, error: string): void;
  close(id: string): void;
  connections(): readonly WebSocketConnection[];
  /** Undefined for a connection that is not stored. */
  frames(
    id: string,
    since: number | undefined,
    limit: number,
  ):
    | {
        readonly frames: readonly WebSocketFrame[];
        readonly next: number;
        readonly dropped: number;
      }
    | undefined;
  clear(): number;
}

interface StoredConnection {
  connection: WebSocketConnection;
  readonly frames: Ring<StoredFrame>;
}

interface StoredFrame {
  readonly frame: WebSocketFrame;
  readonly size: StoredSize;
}

/** An empty WebSocket log. */
export function createWebSocketLog({ next, clock, events, budget }: LogContext): WebSocketLog {
  const stored = new Map<string, StoredConnection>();
  const ring = createRing<string>(CONNECTIONS_MAX, (id) => {
    const entry = stored.get(id);
    stored.delete(id);
    entry?.frames.clear();
  });

  function change(id: string, changes: Partial<WebSocketConnection>): void {
    const entry = stored.get(id);
    if (entry === undefined) return;
    entry.connection = { ...entry.connection, ...changes };
    events.publish('websocket', { event: entry.connection.state, ...entry.connection });
  }

  return {
    open(url) {
      const id = `w${next()}`;
      const connection: WebSocketConnection = {
        id,
        url: clipText(url, URL_CHARS_MAX),
        state: 'connecting',
        created_at_ms: clock.now(),
        closed_at_ms: null,
        frames_sent: 0,
        frames_received: 0,
        bytes: 0,
      };
      const frames = createRing<StoredFrame>(FRAMES_MAX, ({ size }) => size.release());
      stored.set(id, { connection, frames });
      ring.add(id);
      events.publish('websocket', { event: 'connecting', ...connection });
      return id;
    },
    opened: (id) => change(id, { state: 'open' }),
    frame(id, frame) {
      const entry = stored.get(id);
      if (entry === undefined) return;
      const timestamp = new Date(clock.now()).toISOString();
      const record = frameRecord(frame, { seq: next(), timestamp });
      const bytes = textBytes(record.text, record.base64);
      const { frames } = entry;
      frames.add({ frame: record, size: budget.store(bytes, () => frames.dropOldest()) });
      const { connection } = entry;
      entry.connection = {
        ...connection,
        bytes: connection.bytes + record.size,
        frames_sent: connection.frames_sent + (frame.direction === 'sent' ? 1 : 0),
        frames_received: connection.frames_received + (frame.direction === 'received' ? 1 : 0),
      };
      events.publish('websocket', { event: 'frame', id, ...record });
    },
    fail: (id, error) => change(id, { state: 'error', error: clipText(error, ERROR_CHARS_MAX) }),
    close(id) {
      const connection = stored.get(id)?.connection;
      if (connection === undefined || connection.closed_at_ms !== null) return;
      const state = connection.state === 'error' ? 'error' : 'closed';
      change(id, { state, closed_at_ms: clock.now() });
    },
    connections: () => ring.entries().flatMap((id) => stored.get(id)?.connection ?? []),
    frames(id, since, limit) {
      const entry = stored.get(id);
      if (entry === undefined) return undefined;
      const found = entry.frames
        .entries()
        .map(({ frame }) => frame)
        .filter(({ seq }) => seq > (since ?? 0));
      const { page, next: following } = selectEntries(found, since, limit);
      return { frames: page, next: following, dropped: entry.frames.dropped };
    },
    clear() {
      return ring.clear();
    },
  };
}

const OPCODE_TEXT = 1;

function frameRecord(
  { direction, opcode, payload }: NewWebSocketFrame,
  stamp: Pick<WebSocketFrame, 'seq' | 'timestamp'>,
): WebSocketFrame {
  const bytes = Buffer.from(payload, opcode === OPCODE_TEXT ? 'utf8' : 'base64');
  const truncated = bytes.length > PAYLOAD_BYTES_MAX;
  const shown = truncated ? bytes.subarray(0, PAYLOAD_BYTES_MAX) : bytes;
  return {
    ...stamp,
    direction,
    opcode,
    ...(opcode === OPCODE_TEXT
      ? { text: shown.toString('utf8') }
      : { base64: shown.toString('base64') }),
    size: bytes.length,
    truncated,
  };
}
