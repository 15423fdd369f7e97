import type { ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { COUNTED_BODY_BYTES_MIN, type BodyMemory } from './body-memory.ts';

/** How large stored texts are, uncompressed. It is stored beside them, so that it is known before they are read. */
export interface StoredSize {
  /** In UTF-8. */
  readonly bytes: number;
  readonly items: number;
}

/** Reads what is stored for the user of one request. Whatever a request names that is stored is read through it. */
export interface StoredReader {
  readonly userId: string;
  readonly limits: StoredSize;
  /** What this request has read so far. */
  readonly total: StoredSize;
  /** Refuses what is more than the limits with what was read before, waits for memory, and only then reads. */
  read<Value>(size: StoredSize, read: () => Promise<Value>): Promise<Value>;
}

interface StoredReaderOptions {
  readonly userId: string;
  readonly memory: BodyMemory;
  /** How much one request may read. */
  readonly limits: StoredSize;
  /** The request, if its body takes memory too. */
  readonly request?: object;
  /** Calls the function when the request is over, at once if it is: then its memory is free. */
  readonly onEnd: (end: () => void) => void;
}

/** As many items as a body may have. */
export const STORED_ITEMS_MAX = 10_000;

/** The reader of one request. Small texts take no memory, as small bodies do not. */
export function createStoredReader(options: StoredReaderOptions): StoredReader {
  const { userId, memory, limits, request, onEnd } = options;
  const ends = new Set<() => void>();
  let total: StoredSize = { bytes: 0, items: 0 };
  let unpaidBytes = 0;
  let isListening = false;
  let isOver = false;

  function listen(): void {
    if (isListening) return;
    isListening = true;
    onEnd(() => {
      isOver = true;
      for (const end of ends) end();
    });
  }

  function takeMemory(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      listen();
      if (isOver) return reject(requestOver());
      const onSettled = (refusal?: ServiceError): void =>
        refusal === undefined ? resolve() : reject(refusal);
      const share = memory.take(userId, bytes, onSettled, request);
      if (share.isGranted) resolve();
      ends.add(() => {
        share.release();
        reject(requestOver());
      });
    });
  }

  return {
    userId,
    limits,
    get total() {
      return total;
    },
    async read(size, read) {
      total = { bytes: total.bytes + size.bytes, items: total.items + size.items };
      assertWithin(total, limits);
      unpaidBytes += size.bytes;
      if (unpaidBytes > COUNTED_BODY_BYTES_MIN) {
        const bytes = unpaidBytes;
        unpaidBytes = 0;
        await takeMemory(bytes);
      }
      return read();
    },
  };
}

/** The reader of a request over HTTP, which is over when its response is closed. */
export function storedReaderFor(
  response: ServerResponse,
  options: Pick<StoredReaderOptions, 'userId' | 'memory' | 'limits'>,
): StoredReader {
  return createStoredReader({
    ...options,
    request: response,
    onEnd: (end) => {
      if (response.destroyed) end();
      else response.once('close', end);
    },
  });
}

function assertWithin({ bytes, items }: StoredSize, limits: StoredSize): void {
  if (bytes <= limits.bytes && items <= limits.items) return;
  const [size, allowed] =
    bytes > limits.bytes
      ? [`${bytes} bytes`, `${limits.bytes} bytes are allowed (SERVICE_MAX_BODY_BYTES)`]
      : [`${items} items`, `${limits.items} are allowed`];
  throw new ServiceError(
    'context_too_large',
    `the items that the request continues or references are too large: ${size} together, at most ${allowed}; ` +
      'continue from an earlier response, or send a shorter history in input',
  );
}

const requestOver = (): ServiceError =>
  new ServiceError('invalid_request', 'the client disconnected');
