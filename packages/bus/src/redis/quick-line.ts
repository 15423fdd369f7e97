import { connect, type Socket } from 'node:net';
import { describeError, type Log } from '@model-gateway/kernel';
import type { RedisOptions } from 'ioredis';
import { isFromWrongServer } from './redis-access.ts';
import type { RedisAddress } from './redis-address.ts';

/**
 * A second connection for the few commands that every request waits for (decision 14). It only writes a command and reads
 * its reply, which saves CPU for requests that arrive alone. Finding Redis and reconnecting is the client's part: the line is
 * open only while the client is connected, and callers use the client while the line is closed.
 */
export interface QuickLine {
  isOpen(): boolean;
  /** Connects, and reconnects when the connection is lost, until `close`. */
  open(): void;
  /** Rejects on an error reply, on a lost connection and after the timeout. */
  send(name: string, values: readonly string[]): Promise<unknown>;
  close(): void;
}

interface QuickLineOptions {
  /** The address of Redis, as the client parsed it. */
  readonly redis: Pick<
    RedisOptions,
    'host' | 'port' | 'family' | 'path' | 'username' | 'password' | 'db' | 'tls'
  >;
  /** The server that the client uses now, where that is not the one of its options. */
  readonly address?: () => RedisAddress | undefined;
  readonly timeoutMs: number;
  readonly log: Log;
  /** Called when Redis stops replying on an open line, or refuses writes. */
  readonly onUnresponsive: () => void;
}

/** An error reply of Redis. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal';
}

/** Parses replies from the pieces in which they arrive. */
export interface ReplyReader {
  /** Takes the next bytes, one per character. Throws when they are not RESP 2. */
  read(bytes: string): void;
}

class Call {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly at: number;
  next: Call | undefined;

  constructor(resolve: (reply: unknown) => void, reject: (error: Error) => void, at: number) {
    this.resolve = resolve;
    this.reject = reject;
    this.at = at;
  }
}

const HEARTBEAT_MS = 2_000;
const REOPEN_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const READ_BYTES = 64 * 1024;

const INCOMPLETE = Symbol('incomplete');
const LINE_END = '\r\n';
const STATUS = 0x2b;
const REFUSAL = 0x2d;
const NUMBER = 0x3a;
const TEXT = 0x24;
const LIST = 0x2a;
const MINUS = 0x2d;
const ZERO = 0x30;
const BEYOND_ASCII = /[\u0080-\u00ff]/;

export function createQuickLine({
  redis,
  address,
  timeoutMs,
  log,
  onUnresponsive,
}: QuickLineOptions): QuickLine {
  // A new buffer for each read costs more than the reading.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let socket: Socket | undefined;
  let isOpen = false;
  // Pending calls in order. A linked list, because removing the first element of an array moves all others.
  let first: Call | undefined;
  let last: Call | undefined;
  let lastAt = 0;
  let watch: NodeJS.Timeout | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  let reopening: NodeJS.Timeout | undefined;

  function ask(line: Socket, name: string, values: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      lastAt = performance.now();
      const call = new Call(resolve, reject, lastAt);
      if (last === undefined) first = call;
      else last.next = call;
      last = call;
      watch ??= watchFor(timeoutMs);
      line.write(commandText(name, values));
    });
  }

  function onReply(reply: unknown): void {
    const call = first;
    if (call === undefined) throw new TypeError('Redis sent a reply without a command');
    first = call.next;
    call.next = undefined;
    if (first === undefined) last = undefined;
    if (!(reply instanceof RedisRefusal)) {
      call.resolve(reply);
      return;
    }
    call.reject(reply);
    if (isFromWrongServer(reply.message)) onUnresponsive();
  }

  /** One timer for all calls. It also stays when none is pending, for the next one. */
  const watchFor = (afterMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      watch = undefined;
      if (first === undefined) return;
      const leftMs = first.at + timeoutMs - performance.now();
      watch = leftMs > 0 ? watchFor(leftMs) : undefined;
      // If this process was blocked, the reply may have arrived and is read before this runs.
      if (leftMs <= 0) setImmediate(giveUp, first);
    }, afterMs).unref();

  function giveUp(overdue: Call): void {
    if (first === overdue) {
      // A line that was never open says nothing about the client's connection.
      const wasOpen = isOpen;
      lose(new Error('Redis did not answer in time'));
      if (wasOpen) onUnresponsive();
    } else if (first !== undefined) watch ??= watchFor(timeoutMs);
  }

  /** Closes the connection and rejects all pending calls. */
  function lose(reason: Error): void {
    const lost = socket;
    if (lost === undefined) return;
    socket = undefined;
    isOpen = false;
    clearInterval(heartbeat);
    lost.destroy();
    let call = first;
    first = undefined;
    last = undefined;
    while (call !== undefined) {
      const { next } = call;
      call.next = undefined;
      call.reject(reason);
      call = next;
    }
    reopening = setTimeout(open, REOPEN_MS).unref();
  }

  async function greet(line: Socket): Promise<void> {
    const { username, password, db = 0 } = redis;
    const greetings: Promise<unknown>[] = [];
    if (password) greetings.push(ask(line, 'auth', username ? [username, password] : [password]));
    if (db !== 0) greetings.push(ask(line, 'select', [String(db)]));
    greetings.push(ask(line, 'ping', []));
    await Promise.all(greetings);
    if (line !== socket) return;
    isOpen = true;
    heartbeat = setInterval(() => {
      const isIdle = performance.now() - lastAt >= HEARTBEAT_MS;
      if (isIdle) ask(line, 'ping', []).catch(() => undefined);
    }, HEARTBEAT_MS).unref();
  }

  function open(): void {
    clearTimeout(reopening);
    // TLS costs more than the line saves.
    if (socket !== undefined || redis.tls !== undefined) return;
    const reader = createReplyReader(onReply);
    const { host, port, family, path } = redis;
    const configured = path ? { path } : { host, port: port ?? 6379, family };
    const line = connect({
      ...(address?.() ?? configured),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      onread: {
        buffer,
        callback(length) {
          if (line === socket) {
            try {
              reader.read(buffer.toString('latin1', 0, length));
            } catch (error) {
              lose(new Error(describeError(error)));
            }
          }
          return true;
        },
      },
    });
    socket = line;
    const onLost = (error?: Error): void => {
      if (line === socket) lose(error ?? new Error('Redis closed the connection'));
    };
    line.on('error', onLost);
    line.on('end', () => onLost());
    line.on('close', () => onLost());
    greet(line).catch((error: unknown) => {
      log.debug({ reason: describeError(error) }, 'opening the quick line to Redis failed');
      onLost(new Error(describeError(error)));
    });
  }

  return {
    isOpen: () => isOpen,
    open,
    send(name, values) {
      return socket === undefined
        ? Promise.reject(new Error('Redis is not connected'))
        : ask(socket, name, values);
    },
    close() {
      lose(new Error('the connection to Redis was closed'));
      clearTimeout(reopening);
    },
  };
}

// The protocol: RESP version 2.

/** A command in the form that Redis reads. */
export function commandText(name: string, values: readonly string[]): string {
  let text = `*${values.length + 1}${LINE_END}$${name.length}${LINE_END}${name}${LINE_END}`;
  for (const value of values) {
    text += `$${Buffer.byteLength(value)}${LINE_END}${value}${LINE_END}`;
  }
  return text;
}

/**
 * Parses RESP 2, the default protocol of Redis. An error reply becomes a RedisRefusal, also inside a list. An incomplete reply is
 * parsed again from its start when more bytes arrive: replies are short.
 */
export function createReplyReader(onReply: (reply: unknown) => void): ReplyReader {
  let input = '';
  let at = 0;

  function readReply(): unknown {
    const end = input.indexOf(LINE_END, at);
    if (end === -1) return INCOMPLETE;
    const kind = input.charCodeAt(at);
    const begin = at + 1;
    at = end + LINE_END.length;
    switch (kind) {
      case TEXT:
        return readText(numberIn(input, begin, end));
      case LIST:
        return readList(numberIn(input, begin, end));
      case NUMBER:
        return numberIn(input, begin, end);
      case STATUS:
        return decoded(input.slice(begin, end));
      case REFUSAL:
        return new RedisRefusal(decoded(input.slice(begin, end)));
      default:
        throw new TypeError('Redis replied in another protocol');
    }
  }

  function readText(length: number): unknown {
    if (length < 0) return null;
    const end = at + length;
    if (end + LINE_END.length > input.length) return INCOMPLETE;
    const text = input.slice(at, end);
    at = end + LINE_END.length;
    return decoded(text);
  }

  function readList(length: number): unknown {
    if (length < 0) return null;
    const list: unknown[] = [];
    while (list.length < length) {
      const entry = readReply();
      if (entry === INCOMPLETE) return INCOMPLETE;
      list.push(entry);
    }
    return list;
  }

  return {
    read(bytes) {
      input = input === '' ? bytes : input + bytes;
      while (at < input.length) {
        const begin = at;
        const reply = readReply();
        if (reply === INCOMPLETE) {
          input = input.slice(begin);
          at = 0;
          return;
        }
        onReply(reply);
      }
      input = '';
      at = 0;
    },
  };
}

/** A whole number in a text. `Number` of a slice takes several times as long, and every reply has some of them. */
function numberIn(text: string, begin: number, end: number): number {
  const isNegative = text.charCodeAt(begin) === MINUS;
  let value = 0;
  for (let at = isNegative ? begin + 1 : begin; at < end; at += 1) {
    value = value * 10 + text.charCodeAt(at) - ZERO;
  }
  return isNegative ? -value : value;
}

const decoded = (bytes: string): string =>
  BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
