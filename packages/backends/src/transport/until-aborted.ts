import type { Cancel } from '@model-gateway/kernel';
import { aborted } from '../json-rpc/rpc-calls.ts';

/** Waits for something that goes on by itself, as long as the caller stays. */
export async function untilAborted<Result>(work: Promise<Result>, signal: Cancel): Promise<Result> {
  let onAbort: (() => void) | undefined;
  const left = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(aborted(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
