import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ServiceError } from '@model-gateway/contracts';
import { startPeerTimeout, type Metrics, type PeerTimeout } from '@model-gateway/kernel';
import { isFairShare } from './fair-share.ts';

/** Smaller bodies are not counted and never wait: there are many of them, and they take little. */
export const COUNTED_BODY_BYTES_MIN = 256 * 1024;

/** What a byte of a body takes at most until it was sent to an upstream: as bytes, as texts and as values, several times. */
const MEMORY_PER_BODY_BYTE = 8;
/** The part of the memory that large bodies may take. */
const MEMORY_PART = 0.5;

const WAIT_MS_MAX = 30_000;
const WAITING_MAX = 1_000;
const WAITING_OF_OWNER_MAX = 100;
const RETRY_SECS = 5;

/** The part of the memory that one body has, or waits for. */
export interface BodyShare {
  readonly isGranted: boolean;
  /** The body turned out to be shorter. */
  shrink(bytes: number): void;
  /** Gives the memory back, or stops waiting for it. */
  release(): void;
}

/** Limits the memory that large request bodies take in this process together. */
export interface BodyMemory {
  readonly heldBytes: number;
  readonly waiting: number;
  /**
   * Takes memory at once, or when other bodies are over; `onSettled` is called only in the second case, and later. The owner
   * is who sends the body: a user or an address. A request that takes memory more than once names itself: what it holds while
   * it waits for more does not keep others waiting, so that requests do not wait for each other.
   */
  take(
    owner: string,
    bytes: number,
    onSettled: (refusal?: ServiceError) => void,
    request?: object,
  ): BodyShare;
}

interface BodyMemoryOptions {
  readonly bytesMax: number;
  readonly waitMsMax?: number;
  /** A body waited too long, or too many waited. */
  readonly onRefused?: () => void;
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  /** What its request holds already. */
  readonly heldBytes: number;
  readonly timeout: PeerTimeout;
  readonly grant: () => void;
}

interface OwnerUse {
  bytes: number;
  /** The part that is held by requests that wait for more. */
  blockedBytes: number;
  waiting: number;
}

/** How many bytes of large bodies this process can hold with its memory. */
export function bodiesBytesDefault(): number {
  const { heap_size_limit: heapBytes } = getHeapStatistics();
  // Zero where it is not known, and huge where there is no limit.
  const containerBytes = process.constrainedMemory() || totalmem();
  const bytes = Math.min(heapBytes, containerBytes, totalmem());
  return Math.floor((bytes * MEMORY_PART) / MEMORY_PER_BODY_BYTE);
}

/**
 * Owners share it fairly. A body takes all that it may need in one step, so that bodies never wait for each other; one that
 * needs more than there is gets it when it is alone. Those that wait are tried in the order of their arrival.
 */
export function createBodyMemory(options: BodyMemoryOptions): BodyMemory {
  const { bytesMax, waitMsMax = WAIT_MS_MAX, onRefused } = options;
  const queue = new Set<Waiting>();
  const owners = new Map<string, OwnerUse>();
  const requests = new WeakMap<object, number>();
  let heldBytes = 0;
  let blockedBytes = 0;

  /** `requestBytes` is what the request that asks holds already. */
  function hasRoomFor(owner: string, bytes: number, requestBytes: number): boolean {
    // Nothing ends before it gets more.
    if (heldBytes - blockedBytes === requestBytes) return true;
    const own = owners.get(owner);
    const isWaitingOnly = own === undefined || own.bytes - own.blockedBytes === requestBytes;
    const ownBytes = isWaitingOnly ? 0 : own.bytes;
    return isFairShare({ bytesMax, heldBytes, ownBytes }, bytes);
  }

  function holdFor(request: object | undefined, bytes: number): void {
    if (request !== undefined) requests.set(request, (requests.get(request) ?? 0) + bytes);
  }

  function useOf(owner: string): OwnerUse {
    const found = owners.get(owner);
    if (found !== undefined) return found;
    const use = { bytes: 0, blockedBytes: 0, waiting: 0 };
    owners.set(owner, use);
    return use;
  }

  function forgetIdle(owner: string, { bytes, waiting }: OwnerUse): void {
    if (bytes === 0 && waiting === 0) owners.delete(owner);
  }

  /** Counts what the request of a waiting body holds as blocked, or no longer. */
  function block({ owner, heldBytes: bytes }: Waiting, sign: 1 | -1): void {
    useOf(owner).blockedBytes += sign * bytes;
    blockedBytes += sign * bytes;
  }

  function grantWaiting(): void {
    for (const waiting of queue) {
      if (heldBytes - blockedBytes >= bytesMax) return;
      block(waiting, -1);
      const hasRoom = hasRoomFor(waiting.owner, waiting.bytes, waiting.heldBytes);
      block(waiting, 1);
      if (hasRoom) waiting.grant();
    }
  }

  function take(
    owner: string,
    bytes: number,
    onSettled: (refusal?: ServiceError) => void,
    request?: object,
  ): BodyShare {
    const use = useOf(owner);
    let ownBytes = 0;
    let waiting: Waiting | undefined;
    function hold(): void {
      ownBytes = bytes;
      use.bytes += bytes;
      heldBytes += bytes;
      holdFor(request, bytes);
    }
    function free(freed: number): void {
      if (freed === 0) return;
      ownBytes -= freed;
      use.bytes -= freed;
      heldBytes -= freed;
      holdFor(request, -freed);
      forgetIdle(owner, use);
      grantWaiting();
    }
    function leaveQueue(): void {
      if (waiting === undefined) return;
      queue.delete(waiting);
      block(waiting, -1);
      waiting.timeout.stop();
      waiting = undefined;
      use.waiting -= 1;
      forgetIdle(owner, use);
    }
    function refuse(): void {
      leaveQueue();
      forgetIdle(owner, use);
      onRefused?.();
      onSettled(tooManyBodies());
    }
    const requestBytes = (request && requests.get(request)) ?? 0;
    if (hasRoomFor(owner, bytes, requestBytes)) hold();
    else if (queue.size >= WAITING_MAX || use.waiting >= WAITING_OF_OWNER_MAX) {
      queueMicrotask(refuse);
    } else {
      const grant = (): void => {
        hold();
        leaveQueue();
        onSettled();
      };
      const timeout = startPeerTimeout(waitMsMax, refuse);
      waiting = { owner, bytes, heldBytes: requestBytes, grant, timeout };
      block(waiting, 1);
      use.waiting += 1;
      queue.add(waiting);
    }
    return {
      get isGranted() {
        return ownBytes > 0;
      },
      shrink: (size) => free(Math.max(0, ownBytes - size)),
      release() {
        leaveQueue();
        free(ownBytes);
      },
    };
  }

  return {
    get heldBytes() {
      return heldBytes;
    },
    get waiting() {
      return queue.size;
    },
    take,
  };
}

/** The memory of large request bodies in this process, with its metrics. */
export function createMeasuredBodyMemory(bytesMax: number, metrics: Metrics): BodyMemory {
  const refused = metrics
    .counter({
      name: 'service_request_bodies_refused_total',
      help: 'Large request bodies that were refused because there was no memory for them.',
    })
    .series({});
  const memory = createBodyMemory({ bytesMax, onRefused: () => refused.inc() });
  metrics.gauge({
    name: 'service_request_body_bytes',
    help: 'Bytes of large request bodies that are held until their requests are answered.',
    collect: (gauge) => gauge.set(memory.heldBytes),
  });
  metrics.gauge({
    name: 'service_request_bodies_waiting',
    help: 'Large request bodies that wait for memory.',
    collect: (gauge) => gauge.set(memory.waiting),
  });
  return memory;
}

const tooManyBodies = (): ServiceError =>
  new ServiceError(
    'overloaded',
    'too many large requests at once: there was no memory for this one; SERVICE_REQUEST_BODIES_BYTES_MAX sets the limit of all together',
    { details: { retry_after_secs: RETRY_SECS } },
  );
