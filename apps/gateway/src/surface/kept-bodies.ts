import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { cutBody, KEPT_BODY_BYTES_MAX, type RequestLogWriter } from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { HttpCall } from './http-call.ts';

/** Keeps the bodies of requests whose key or service says so. */
export type KeepBodies = (call: HttpCall) => KeptRequest;

/** Takes the body of the request, as far as it is text. */
export type KeptRequest = (text: string) => void;

interface KeepBodiesDependencies {
  readonly requestLogWriter: Pick<RequestLogWriter, 'keepBodies'>;
  readonly clock: Clock;
}

const CHARACTER_BYTES_MAX = 4;

/** Observes what is written to a response, and keeps both bodies when it is closed. */
export function createKeepBodies({ requestLogWriter, clock }: KeepBodiesDependencies): KeepBodies {
  return ({ response, log }) => {
    let request: string | null = null;
    const answer = observeWrites(response);
    response.once('close', () => {
      const { trace, caller } = log;
      if (trace === undefined || caller === undefined) return;
      requestLogWriter.keepBodies({
        id: trace.id,
        createdAt: new Date(clock.now()),
        userId: caller.userId,
        request,
        answer: answer(),
      });
    });
    return (text) => {
      request = cutBody(text);
    };
  };
}

/** Replaces the methods of this response alone, so that others cost nothing. */
function observeWrites(response: ServerResponse): () => string | null {
  const parts: Buffer[] = [];
  let kept = 0;
  let size = 0;
  const take = (chunk: unknown): void => {
    if (typeof chunk !== 'string' && !Buffer.isBuffer(chunk)) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    const part = Buffer.from(bytes.subarray(0, KEPT_BODY_BYTES_MAX - kept));
    kept += part.length;
    if (part.length > 0) parts.push(part);
  };
  for (const name of ['write', 'end'] as const) {
    const original: unknown = response[name];
    if (typeof original !== 'function') continue;
    Reflect.set(response, name, (...args: readonly unknown[]): unknown => {
      take(args[0]);
      const result: unknown = Reflect.apply(original, response, args);
      return result;
    });
  }
  return () => (size === 0 ? null : textOf(Buffer.concat(parts), size));
}

/** A body that is not text, such as audio, is only described. */
function textOf(bytes: Buffer, size: number): string {
  for (let end = bytes.length; end > bytes.length - CHARACTER_BYTES_MAX && end >= 0; end -= 1) {
    const part = bytes.subarray(0, end);
    if (isUtf8(part)) return cutBody(part.toString(), size);
  }
  return `[${size} bytes that are no text]`;
}
