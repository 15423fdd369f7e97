import type { ServerResponse } from 'node:http';

/** What sees an answer while it is sent. */
export interface AnswerObserver {
  /** The status is that of the response; names and values of headers that were not set before alternate. */
  onHead?(headers: unknown): void;
  onPart(part: string | Uint8Array): void;
  /** Called when the end of the answer is written, not when it breaks off. */
  onEnd?(): void;
}

/** Replaces the methods of this response alone, so that others cost nothing. */
export function observeAnswer(response: ServerResponse, observer: AnswerObserver): void {
  let hasEnded = false;
  const take = (part: unknown): void => {
    if (typeof part === 'string' || part instanceof Uint8Array) observer.onPart(part);
  };
  before(response, 'writeHead', (args) => observer.onHead?.(args.at(-1)));
  before(response, 'write', ([part]) => take(part));
  before(response, 'end', ([part]) => {
    if (hasEnded) return;
    hasEnded = true;
    take(part);
    observer.onEnd?.();
  });
}

function before(
  response: ServerResponse,
  name: 'writeHead' | 'write' | 'end',
  observe: (args: readonly unknown[]) => void,
): void {
  const original: unknown = response[name];
  if (typeof original !== 'function') return;
  Reflect.set(response, name, (...args: readonly unknown[]): unknown => {
    observe(args);
    const result: unknown = Reflect.apply(original, response, args);
    return result;
  });
}
