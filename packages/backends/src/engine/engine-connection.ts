import { tryParseExactJson, tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure, type RealtimeLink, type RealtimeOpening } from '@model-gateway/router';
import { createSendQueue } from '../realtime/send-queue.ts';
import { RpcTimeout } from '../json-rpc/rpc-failures.ts';
import { openRpcSocket, type CallOptions, type RpcSocket } from '../json-rpc/rpc-socket.ts';
import type { UpstreamTimeouts } from '../transport/upstream-http.ts';
import { createChunkQueue, type ChunkQueue } from './chunk-queue.ts';
import {
  chatChunkSchema,
  chatStartedSchema,
  ENGINE_PROTOCOL,
  handshakeSchema,
  readResult,
  realtimeStartedSchema,
  type EngineChatChunk,
  type EngineHandshake,
} from './engine-frames.ts';
import { createEngineSessions, type EngineSessions } from './engine-sessions.ts';

/** One connection to an engine, after its handshake. */
export interface EngineConnection {
  readonly handshake: EngineHandshake;
  /** A call whose result comes as a whole, within the total time. */
  call<Result>(
    method: string,
    params: object,
    options: Pick<CallOptions<Result>, 'read' | 'signal'>,
  ): Promise<Result>;
  /** Starts a streamed chat; a reader that stops, or a signal that aborts, cancels it. */
  stream(params: object, signal: AbortSignal): Promise<AsyncGenerator<EngineChatChunk>>;
  openRealtime(opening: RealtimeOpening, signal: AbortSignal): Promise<RealtimeLink>;
  close(): void;
}

interface EngineConnectionOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
  readonly answerBytesMax: number;
  /** Called when no further call should use this connection. */
  readonly onUnusable: (error: UpstreamFailure) => void;
}

type Streams = Map<string, ChunkQueue<EngineChatChunk>>;

const CLIENT = { name: 'model-gateway', version: '1' };

/** Connects and performs the handshake. */
export async function openEngineConnection(
  options: EngineConnectionOptions,
): Promise<EngineConnection> {
  const { timeouts, apiKey, onUnusable } = options;
  const streams: Streams = new Map();
  const sessions = createEngineSessions(apiKey);
  const socket = await openRpcSocket({
    url: options.url,
    headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
    connectTimeoutMs: timeouts.connectMs,
    frameBytesMax: options.answerBytesMax,
    // Only lists of vectors have too many numbers to keep the text of each.
    parse: (text) => tryParseExactJson(text) ?? tryParseJson(text),
    onNotification: (method, params, frameBytes) => {
      if (method === 'Engine.ChatChunk') deliver(streams, params, frameBytes);
      else sessions.onNotification(method, params);
    },
    onClosed(error) {
      for (const queue of streams.values()) queue.fail(error);
      sessions.failAll(error);
      onUnusable(error);
    },
  });
  const handshake = await performHandshake(socket, timeouts.connectMs);
  return { ...createConnection(socket, { streams, sessions }, options), handshake };
}

async function performHandshake(socket: RpcSocket, timeoutMs: number): Promise<EngineHandshake> {
  try {
    const params = { protocol: ENGINE_PROTOCOL, client: CLIENT };
    return await socket.call('Engine.Handshake', params, {
      signal: new AbortController().signal,
      timeoutMs,
      read: readResult('Engine.Handshake', handshakeSchema),
    });
  } catch (error) {
    socket.close();
    throw error;
  }
}

function createConnection(
  socket: RpcSocket,
  { streams, sessions }: { readonly streams: Streams; readonly sessions: EngineSessions },
  { timeouts, onUnusable }: EngineConnectionOptions,
): Omit<EngineConnection, 'handshake'> {
  let underWay = 0;
  let isRetired = false;

  function release(): void {
    underWay -= 1;
    if (isRetired && underWay === 0) socket.close();
  }
  /** A connection with a failure gets no more calls, and closes after the pending ones. */
  function retire(error: UpstreamFailure): void {
    if (isRetired) return;
    isRetired = true;
    onUnusable(error);
  }
  async function call<Result>(
    method: string,
    params: object,
    how: CallOptions<Result>,
  ): Promise<Result> {
    underWay += 1;
    try {
      return await socket.call(method, params, how);
    } catch (error) {
      // An aborted call says nothing about the engine.
      if (error instanceof UpstreamFailure && !how.signal.aborted) retire(error);
      throw error;
    } finally {
      release();
    }
  }
  function openStream(chatId: string, signal: AbortSignal): ChunkQueue<EngineChatChunk> {
    underWay += 1;
    const queue = createChunkQueue<EngineChatChunk>({
      idleMs: timeouts.idleMs,
      signal,
      onOver(why) {
        // Only streams that the engine has not ended must be stopped.
        if (streams.delete(chatId)) socket.send('Engine.ChatCancel', { chat_id: chatId });
        if (why instanceof RpcTimeout) retire(why);
        release();
      },
    });
    streams.set(chatId, queue);
    return queue;
  }
  function openSession(session: string, { onEvent, onClosed }: RealtimeOpening): RealtimeLink {
    const queue = createSendQueue();
    underWay += 1;
    sessions.add(session, {
      onEvent,
      onClosed(why) {
        release();
        onClosed(why);
      },
    });
    return {
      send: (event) => socket.notify('Engine.RealtimeEvent', { session, event }, queue),
      close() {
        if (!sessions.remove(session)) return;
        socket.send('Engine.RealtimeStop', { session });
        release();
      },
    };
  }

  return {
    call: (method, params, how) => call(method, params, { ...how, timeoutMs: timeouts.totalMs }),
    openRealtime(opening, signal) {
      const { model, config } = opening;
      const started = readResult('Engine.RealtimeStart', realtimeStartedSchema);
      return call(
        'Engine.RealtimeStart',
        { model, config },
        {
          signal,
          timeoutMs: timeouts.idleMs,
          read: (result) => openSession(started(result).session, opening),
          onLateResult: (result) =>
            socket.send('Engine.RealtimeStop', { session: started(result).session }),
        },
      );
    },
    async stream(params, signal) {
      const started = readResult('Engine.ChatStart', chatStartedSchema);
      const queue = await call('Engine.ChatStart', params, {
        signal,
        timeoutMs: timeouts.idleMs,
        // The first chunk may be in the very next frame, so the stream is opened while this one is read.
        read: (result) => openStream(started(result).chat_id, signal),
        onLateResult: (result) =>
          socket.send('Engine.ChatCancel', { chat_id: started(result).chat_id }),
      });
      return queue.read();
    },
    close: () => socket.close(),
  };
}

const readChunk = readResult('Engine.ChatStart', chatChunkSchema);

function deliver(streams: Streams, params: unknown, frameBytes: number): void {
  const chunk = readChunk(params);
  const queue = streams.get(chunk.chat_id);
  if (chunk.done) streams.delete(chunk.chat_id);
  queue?.push(chunk, frameBytes);
}
