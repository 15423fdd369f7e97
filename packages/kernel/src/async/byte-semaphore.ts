import { isFairShare } from './fair-share.ts';
import { startPeerTimeout, type PeerTimeout } from './peer-timeout.ts';

/** The part of a memory that one taker has, or waits for. */
export interface ByteShare {
  readonly isGranted: boolean;
  /** It needs less than it took. */
  shrink(bytes: number): void;
  /** Gives the memory back, or stops waiting for it. */
  release(): void;
}

/** Limits the memory that large things, such as request bodies, take in this process together. */
export interface ByteSemaphore<Refusal extends Error> {
  readonly heldBytes: number;
  readonly waiting: number;
  /**
   * Takes memory at once, or when others have given it back; `onSettled` is called only in the second case, and later. Owners,
   * such as users, share it fairly; takers without an owner are served in the order of their arrival. A holder that takes
   * memory more than once names itself: what it holds while it waits for more does not keep others waiting, so that holders do
   * not wait for each other.
   */
  take(
    owner: string | undefined,
    bytes: number,
    onSettled: (refusal?: Refusal) => void,
    holder?: object,
  ): ByteShare;
}

interface ByteSemaphoreOptions<Refusal extends Error> {
  readonly bytesMax: number;
  readonly waitMsMax: number;
  readonly waitingMax?: number;
  readonly waitingOfOwnerMax?: number;
  /** The error for a taker that has waited too long, or that is one too many. */
  readonly refusal: () => Refusal;
}

interface OwnerUse {
  bytes: number;
  /** The part whose holders wait for more. */
  blockedBytes: number;
  waiting: number;
}

interface Waiting {
  readonly isOrdered: boolean;
  readonly use: OwnerUse;
  readonly bytes: number;
  /** What its holder has already. */
  readonly heldBytes: number;
  readonly timeout: PeerTimeout;
  readonly grant: () => void;
}

/**
 * A taker gets all that it may need in one step, so that takers never wait for each other; one that needs more than there is
 * gets it when it is alone. Those that wait are tried in the order of their arrival.
 */
export function createByteSemaphore<Refusal extends Error>(
  options: ByteSemaphoreOptions<Refusal>,
): ByteSemaphore<Refusal> {
  const { bytesMax, waitMsMax, waitingMax = Infinity, waitingOfOwnerMax = Infinity } = options;
  const queue = new Set<Waiting>();
  const owners = new Map<string, OwnerUse>();
  const holders = new WeakMap<object, number>();
  let heldBytes = 0;
  let blockedBytes = 0;

  /** `holderBytes` is what the holder that asks has already. */
  function hasRoomFor(use: OwnerUse, bytes: number, holderBytes: number): boolean {
    // Nothing ends before it gets more.
    if (heldBytes - blockedBytes === holderBytes) return true;
    const ownBytes = use.bytes - use.blockedBytes === holderBytes ? 0 : use.bytes;
    return isFairShare({ bytesMax, heldBytes, ownBytes }, bytes);
  }

  function useOf(owner: string | undefined): OwnerUse {
    const found = owner === undefined ? undefined : owners.get(owner);
    if (found !== undefined) return found;
    const use = { bytes: 0, blockedBytes: 0, waiting: 0 };
    if (owner !== undefined) owners.set(owner, use);
    return use;
  }

  /** Counts what the holder of a waiting taker has as blocked, or no longer. */
  function block({ use, heldBytes: bytes }: Waiting, sign: 1 | -1): void {
    use.blockedBytes += sign * bytes;
    blockedBytes += sign * bytes;
  }

  function grantWaiting(): void {
    for (const waiting of queue) {
      if (heldBytes - blockedBytes >= bytesMax) return;
      block(waiting, -1);
      const hasRoom = hasRoomFor(waiting.use, waiting.bytes, waiting.heldBytes);
      block(waiting, 1);
      if (hasRoom) waiting.grant();
      else if (waiting.isOrdered) return;
    }
  }

  function take(
    owner: string | undefined,
    bytes: number,
    onSettled: (refusal?: Refusal) => void,
    holder?: object,
  ): ByteShare {
    const use = useOf(owner);
    const isOrdered = owner === undefined;
    let ownBytes = 0;
    let waiting: Waiting | undefined;
    function hold(change: number): void {
      ownBytes += change;
      use.bytes += change;
      heldBytes += change;
      if (holder !== undefined) holders.set(holder, (holders.get(holder) ?? 0) + change);
    }
    function forgetIdle(): void {
      if (owner !== undefined && use.bytes === 0 && use.waiting === 0) owners.delete(owner);
    }
    function free(bytesFreed: number): void {
      if (bytesFreed === 0) return;
      hold(-bytesFreed);
      forgetIdle();
      grantWaiting();
    }
    function leaveQueue(): void {
      if (waiting === undefined) return;
      queue.delete(waiting);
      block(waiting, -1);
      waiting.timeout.stop();
      waiting = undefined;
      use.waiting -= 1;
      forgetIdle();
    }
    function refuse(): void {
      leaveQueue();
      forgetIdle();
      onSettled(options.refusal());
      grantWaiting();
    }
    const holderBytes = (holder && holders.get(holder)) ?? 0;
    if (!(isOrdered && queue.size > 0) && hasRoomFor(use, bytes, holderBytes)) hold(bytes);
    else if (queue.size >= waitingMax || use.waiting >= waitingOfOwnerMax) queueMicrotask(refuse);
    else {
      const grant = (): void => {
        hold(bytes);
        leaveQueue();
        onSettled();
      };
      const timeout = startPeerTimeout(waitMsMax, refuse);
      waiting = { isOrdered, use, bytes, heldBytes: holderBytes, grant, timeout };
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
        const wasWaiting = waiting !== undefined;
        leaveQueue();
        free(ownBytes);
        // The next one may need less.
        if (wasWaiting) grantWaiting();
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
