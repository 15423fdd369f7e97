import { ServiceError } from '@model-gateway/contracts';
import {
  abortReason,
  startPeerTimeout,
  type Cancel,
  type PeerTimeout,
} from '@model-gateway/kernel';
import { upstreamFailed } from '../../errors/upstream-error.ts';

/** The default of `SERVICE_UPSTREAM_ANSWERS_BYTES_MAX`. */
export const ANSWERS_BYTES_MAX = 128 * 1024 * 1024;

/** Shorter answers are not counted: there are many of them, and they take little. */
export const COUNTED_BYTES_MIN = 256 * 1024;

const WAIT_MS_MAX = 30_000;
const RETRY_SECS = 5;
const MS_PER_SEC = 1_000;

/** The part of the memory that one answer has, or waits for. */
export interface AnswerShare {
  readonly isGranted: boolean;
  /** The answer turned out to be shorter. */
  shrink(bytes: number): void;
  /** Gives the memory back, or stops waiting for it. */
  release(): void;
}

/** Limits the memory that large answers take in this process together: they are held whole until their client has them. */
export interface AnswerMemory {
  readonly heldBytes: number;
  readonly waiting: number;
  /** Takes memory at once, or when answers before it are over. `onSettled` is called only in the second case. */
  take(bytes: number, onSettled: (refusal?: ServiceError) => void): AnswerShare;
}

interface AnswerMemoryOptions {
  readonly bytesMax: number;
  readonly waitMsMax?: number;
  /** An answer waited too long. */
  readonly onRefused?: () => void;
}

interface Waiting {
  readonly grant: () => void;
  readonly bytes: number;
  readonly timeout: PeerTimeout;
}

/**
 * An answer takes all that it may need in one step and in order of arrival, so that answers never wait for each other. One
 * that needs more than there is gets it when it is alone.
 */
export function createAnswerMemory(options: AnswerMemoryOptions): AnswerMemory {
  const { bytesMax, waitMsMax = WAIT_MS_MAX, onRefused } = options;
  const queue = new Set<Waiting>();
  let heldBytes = 0;

  const hasRoomFor = (bytes: number): boolean => heldBytes === 0 || heldBytes + bytes <= bytesMax;

  function grantNext(): void {
    for (const waiting of queue) {
      if (!hasRoomFor(waiting.bytes)) return;
      queue.delete(waiting);
      waiting.timeout.stop();
      waiting.grant();
    }
  }

  function take(bytes: number, onSettled: (refusal?: ServiceError) => void): AnswerShare {
    let ownBytes = 0;
    let waiting: Waiting | undefined;
    function hold(): void {
      ownBytes = bytes;
      heldBytes += bytes;
      waiting = undefined;
    }
    function free(freed: number): void {
      ownBytes -= freed;
      heldBytes -= freed;
      grantNext();
    }
    function leaveQueue(): void {
      if (waiting === undefined) return;
      queue.delete(waiting);
      waiting.timeout.stop();
      waiting = undefined;
      // The next one may need less.
      grantNext();
    }
    function onTimeout(): void {
      leaveQueue();
      onRefused?.();
      onSettled(tooManyAnswers(waitMsMax));
    }
    if (queue.size === 0 && hasRoomFor(bytes)) hold();
    else {
      const grant = (): void => {
        hold();
        onSettled();
      };
      waiting = { bytes, grant, timeout: startPeerTimeout(waitMsMax, onTimeout) };
      queue.add(waiting);
    }
    return {
      get isGranted() {
        return ownBytes > 0;
      },
      shrink: (size) => free(Math.max(0, ownBytes - size)),
      release() {
        leaveQueue();
        if (ownBytes > 0) free(ownBytes);
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

/** Takes memory for an answer; rejects when there is none for too long, or the call is cancelled. */
export function takeWithin(
  memory: AnswerMemory,
  bytes: number,
  cancel: Cancel,
): Promise<AnswerShare> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      share.release();
      reject(upstreamFailed(abortReason(cancel)));
    };
    const share = memory.take(bytes, (refusal) => {
      cancel.removeEventListener('abort', onAbort);
      if (refusal === undefined) resolve(share);
      else reject(refusal);
    });
    if (share.isGranted) resolve(share);
    else if (cancel.aborted) onAbort();
    else cancel.addEventListener('abort', onAbort, { once: true });
  });
}

/** Keeps the memory of a complete answer until its client has it, as far as that is known. */
export function keepUntilSent(share: AnswerShare, cancel: Cancel): void {
  if (cancel.onEnd === undefined) share.release();
  else cancel.onEnd(() => share.release());
}

const tooManyAnswers = (waitedMs: number): ServiceError =>
  new ServiceError(
    'overloaded',
    `too many large answers at once: this one waited ${waitedMs / MS_PER_SEC} s for memory; SERVICE_UPSTREAM_ANSWERS_BYTES_MAX sets the limit of all together`,
    { details: { retry_after_secs: RETRY_SECS } },
  );
