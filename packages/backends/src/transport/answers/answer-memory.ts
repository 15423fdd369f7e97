import { ServiceError } from '@model-gateway/contracts';
import {
  abortReason,
  createByteSemaphore,
  type ByteSemaphore,
  type ByteShare,
} from '@model-gateway/kernel';
import type { AnswerWatch } from '@model-gateway/router';
import { upstreamFailed } from '../../errors/upstream-error.ts';

/** The default of `SERVICE_UPSTREAM_ANSWERS_BYTES_MAX`. */
export const ANSWERS_BYTES_MAX = 128 * 1024 * 1024;

/** Shorter answers are not counted: there are many of them, and they take little. */
export const COUNTED_BYTES_MIN = 256 * 1024;

const WAIT_MS_MAX = 30_000;
const RETRY_SECS = 5;
const MS_PER_SEC = 1_000;

/** Limits the memory that large answers take in this process together: they are held whole until their client has them. */
export type AnswerMemory = ByteSemaphore<ServiceError>;

interface AnswerMemoryOptions {
  readonly bytesMax: number;
  readonly waitMsMax?: number;
  /** An answer waited too long. */
  readonly onRefused?: () => void;
}

/** Answers have no owner: they take their memory in the order in which they arrive. */
export function createAnswerMemory({
  bytesMax,
  waitMsMax = WAIT_MS_MAX,
  onRefused,
}: AnswerMemoryOptions): AnswerMemory {
  return createByteSemaphore({
    bytesMax,
    waitMsMax,
    refusal() {
      onRefused?.();
      return tooManyAnswers(waitMsMax);
    },
  });
}

/** Takes memory for an answer; rejects when there is none for too long, or the call is cancelled. */
export function takeWithin(
  memory: AnswerMemory,
  bytes: number,
  signal: AbortSignal,
): Promise<ByteShare> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      share.release();
      reject(upstreamFailed(abortReason(signal)));
    };
    const share = memory.take(undefined, bytes, (refusal) => {
      signal.removeEventListener('abort', onAbort);
      if (refusal === undefined) resolve(share);
      else reject(refusal);
    });
    if (share.isGranted) resolve(share);
    else if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Keeps the memory of a complete answer until its client has it, as far as that is known. */
export function keepUntilSent(share: ByteShare, watch: AnswerWatch | undefined): void {
  if (watch?.onEnd === undefined) share.release();
  else watch.onEnd(() => share.release());
}

const tooManyAnswers = (waitedMs: number): ServiceError =>
  new ServiceError(
    'overloaded',
    `too many large answers at once: this one waited ${waitedMs / MS_PER_SEC} s for memory; SERVICE_UPSTREAM_ANSWERS_BYTES_MAX sets the limit of all together`,
    { details: { retry_after_secs: RETRY_SECS } },
  );
