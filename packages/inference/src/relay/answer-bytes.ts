import type { RelayedAnswer } from '@model-gateway/router';
import { brokenOff } from '../stream/broken-off.ts';

const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** The bytes of an answer, up to a limit. */
export interface AnswerBytes {
  /** Undefined at the end. */
  next(): Promise<Buffer | undefined>;
  /** Cancels the rest. */
  leave(): void;
}

export function answerBytes({ bytes }: Pick<RelayedAnswer, 'bytes'>): AnswerBytes {
  const source = bytes[Symbol.asyncIterator]();
  let size = 0;

  /** A failure to cancel the upstream does not matter any more. */
  function leave(): void {
    source.return?.().catch(() => undefined);
  }

  return {
    leave,
    async next() {
      const next = await source.next();
      if (next.done === true) return undefined;
      size += next.value.length;
      if (size > ANSWER_BYTES_MAX) {
        leave();
        throw brokenOff(`the upstream answered more than ${ANSWER_BYTES_MAX} bytes`);
      }
      return Buffer.isBuffer(next.value) ? next.value : Buffer.from(next.value);
    },
  };
}
