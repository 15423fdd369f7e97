import { isUtf8 } from 'node:buffer';
import type { Clock } from '@model-gateway/kernel';
import type { CallLog } from '../call/call.ts';
import { cutBody, KEPT_BODY_BYTES_MAX } from './cut-body.ts';
import type { RequestLogWriter } from './request-log-writer.ts';

/** Keeps the bodies of a call in the request log, where its key or the service says so. */
export type KeepBodies = (log: CallLog) => CallBodies;

/** The bodies of one call, as far as they are text. */
export interface CallBodies {
  request(text: string): void;
  /** Takes what is sent next of the answer. */
  answer(part: string | Uint8Array): void;
  /** The call is over; nothing is kept of one whose caller is not known. */
  end(): void;
}

interface KeepBodiesDependencies {
  readonly requestLogWriter: Pick<RequestLogWriter, 'keepBodies'>;
  readonly clock: Clock;
}

const CHARACTER_BYTES_MAX = 4;

export const createKeepBodies =
  ({ requestLogWriter, clock }: KeepBodiesDependencies): KeepBodies =>
  (log) => {
    let request: string | null = null;
    const parts: Buffer[] = [];
    let kept = 0;
    let size = 0;
    return {
      request(text) {
        request = cutBody(text);
      },
      answer(chunk) {
        size += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length;
        if (kept === KEPT_BODY_BYTES_MAX) return;
        // A copy, because what was sent may be used again.
        const part = Buffer.from(chunk).subarray(0, KEPT_BODY_BYTES_MAX - kept);
        kept += part.length;
        parts.push(part);
      },
      end() {
        const { trace, caller } = log;
        if (trace === undefined || caller === undefined) return;
        requestLogWriter.keepBodies({
          id: trace.id,
          createdAt: new Date(clock.now()),
          userId: caller.userId,
          request,
          answer: size === 0 ? null : textOf(Buffer.concat(parts), size),
        });
      },
    };
  };

/** A body that is not text, such as audio, is only described. */
function textOf(bytes: Buffer, size: number): string {
  for (let end = bytes.length; end > bytes.length - CHARACTER_BYTES_MAX && end >= 0; end -= 1) {
    const part = bytes.subarray(0, end);
    if (isUtf8(part)) return cutBody(part.toString(), size);
  }
  return `[${size} bytes that are no text]`;
}
