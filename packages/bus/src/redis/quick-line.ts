import { connect, type Socket } from 'node:net';
import { describeError, type Log } from '@model-gateway/kernel';
import type { RedisOptions } from 'ioredis';
import { commandText, createReplyReader, RedisRefusal } from './resp.ts';

/**
 * A second connection, for the few commands that every request waits for. It does nothing but write a command and
 * read its answer, which costs a request that comes alone a good deal less than the client does. All that is difficult (finding Redis,
 * waiting for it, coming back) is the client's: the line is opened while the client is connected, and whoever finds it
 * closed asks the client.
 */
export interface QuickLine {
  isOpen(): boolean;
  /** Makes the connection, and makes it anew whenever it is lost, until it is told to close. */
  open(): void;
  /** Rejects when Redis refuses, when the connection is lost before the answer is there, and when that takes too long. */
  send(name: string, values: readonly string[]): Promise<unknown>;
  close(): void;
}

interface QuickLineOptions {
  /** Where Redis is, as the client understood it. */
  readonly redis: Pick<
    RedisOptions,
    'host' | 'port' | 'family' | 'path' | 'username' | 'password' | 'db' | 'tls'
  >;
  readonly timeoutMs: number;
  readonly log: Log;
  /** Called when Redis no longer answers on an open line, or no longer takes writes. */
  readonly onUnresponsive: () => void;
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

export function createQuickLine({
  redis,
  timeoutMs,
  log,
  onUnresponsive,
}: QuickLineOptions): QuickLine {
  // Its own bytes each time would cost more than what is read from them.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let socket: Socket | undefined;
  let isOpen = false;
  // Those that wait for their answers, in the order of these. Links, since a list that shrinks at its beginning is moved each time.
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
    if (call === undefined) throw new TypeError('Redis answered what nobody has asked');
    first = call.next;
    call.next = undefined;
    if (first === undefined) last = undefined;
    if (!(reply instanceof RedisRefusal)) {
      call.resolve(reply);
      return;
    }
    call.reject(reply);
    // A primary that was demoted goes on answering; the address leads to the new one.
    if (reply.message.startsWith('READONLY')) onUnresponsive();
  }

  /** One timer for all of them. It stays when all have their answers, for the next. */
  const watchFor = (afterMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      watch = undefined;
      if (first === undefined) return;
      const leftMs = first.at + timeoutMs - performance.now();
      watch = leftMs > 0 ? watchFor(leftMs) : undefined;
      // Where this process was held up itself, the answer is there already and is read now.
      if (leftMs <= 0) setImmediate(giveUp, first);
    }, afterMs).unref();

  function giveUp(overdue: Call): void {
    if (first === overdue) {
      // A line that was never open says nothing about the connections of others.
      const wasOpen = isOpen;
      lose(new Error('Redis did not answer in time'));
      if (wasOpen) onUnresponsive();
    } else if (first !== undefined) watch ??= watchFor(timeoutMs);
  }

  /** Gives the connection up; whoever waits for an answer is told so. */
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
    // With TLS the connection costs more than the client does.
    if (socket !== undefined || redis.tls !== undefined) return;
    const reader = createReplyReader(onReply);
    const { host, port, family, path } = redis;
    const line = connect({
      ...(path ? { path } : { host, port: port ?? 6379, family }),
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
      log.debug({ reason: describeError(error) }, 'the quick line to Redis could not be opened');
      onLost(new Error(describeError(error)));
    });
  }

  return {
    isOpen: () => isOpen,
    open,
    send(name, values) {
      return socket === undefined
        ? Promise.reject(new Error('Redis is away'))
        : ask(socket, name, values);
    },
    close() {
      lose(new Error('the connection to Redis was closed'));
      clearTimeout(reopening);
    },
  };
}
