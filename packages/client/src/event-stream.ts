import { createEventParser, type RpcEvent } from './event-parser.ts';
import { RpcConnectionError } from './rpc-errors.ts';
import type { TokenSource } from './transport.ts';

/** A subscription to one session. It can be iterated once. */
export interface RpcSubscription extends AsyncIterable<RpcEvent> {
  /** Resolves when the subscription is live: events sent from then on arrive. */
  readonly ready: Promise<void>;
  /** Ends the stream and the iteration. */
  close(): void;
}

interface EventStreamOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly fetch: typeof fetch;
  /** Each of them ends the stream. */
  readonly signals: readonly AbortSignal[];
  readonly onEnd: () => void;
  /** How long the service may take to confirm the subscription. */
  readonly timeoutMs: number;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const REFUSAL_CHARS_MAX = 200;

/** Opens an event stream immediately. A lost connection ends the iteration with an error; the caller may subscribe again. */
export function openEventStream(options: EventStreamOptions): RpcSubscription {
  const { url, signals, timeoutMs } = options;
  const ending = new AbortController();
  const parser = createEventParser();
  let isEnded = false;
  const end = (reason: unknown): void => {
    isEnded = true;
    ending.abort(reason);
  };
  const unfollow = followAll(signals, end);
  const release = (): void => {
    unfollow();
    options.onEnd();
  };
  const timer = setTimeout(() => {
    ending.abort(new RpcConnectionError('timeout', `no event stream within ${timeoutMs} ms`));
  }, timeoutMs);

  async function read(reader: Reader): Promise<void> {
    const { done, value } = await reader.read();
    if (done) throw new RpcConnectionError('closed', 'the service ended the event stream');
    parser.feed(value);
  }

  async function connect(): Promise<Reader> {
    try {
      const reader = await request(options, ending.signal);
      while (!parser.isConnected) await read(reader);
      return reader;
    } catch (error) {
      release();
      throw ending.signal.aborted ? ending.signal.reason : asConnectionError(error, url);
    } finally {
      clearTimeout(timer);
    }
  }

  async function* events(connecting: Promise<Reader>): AsyncGenerator<RpcEvent, void, undefined> {
    try {
      const reader = await connecting;
      while (true) {
        yield* parser.take();
        await read(reader);
      }
    } catch (error) {
      if (!isEnded) throw asConnectionError(error, url);
    } finally {
      release();
      ending.abort();
    }
  }

  const connecting = connect();
  const ready = connecting.then(() => undefined);
  // The iteration reports the failure too, so `ready` need not be awaited.
  ready.catch(() => undefined);
  const iterator = events(connecting);
  return {
    ready,
    close: () => end(new RpcConnectionError('closed', 'the subscription was closed')),
    [Symbol.asyncIterator]: () => iterator,
  };
}

/** Calls back with the reason of the first signal that aborts, until it is released. */
function followAll(
  signals: readonly AbortSignal[],
  callback: (reason: unknown) => void,
): () => void {
  const released = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) callback(signal.reason);
    signal.addEventListener('abort', () => callback(signal.reason), { signal: released.signal });
  }
  return () => released.abort();
}

async function request(
  { url, token, fetch }: EventStreamOptions,
  signal: AbortSignal,
): Promise<Reader> {
  const bearer = await token();
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    signal,
  });
  if (response.ok && response.body !== null) return response.body.getReader();
  const { status } = response;
  const text = (await response.text()).slice(0, REFUSAL_CHARS_MAX);
  throw new RpcConnectionError('bad-answer', `HTTP ${status}: ${text}`, { status });
}

function asConnectionError(error: unknown, url: string): RpcConnectionError {
  if (error instanceof RpcConnectionError) return error;
  return new RpcConnectionError('network', `cannot reach ${url}`, { cause: error });
}
