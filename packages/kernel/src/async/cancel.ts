import { isError } from '../errors/errors.ts';

/**
 * A signal that asks work to stop early. Every AbortSignal is one, but creating an AbortSignal costs a request more
 * than its routing does, so requests use the light implementation below.
 */
export interface Cancel {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(
    type: 'abort',
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  /** Calls the listener when the caller has the result, or has left. Absent where that is not known. */
  readonly onEnd?: ((listener: () => void) => void) | undefined;
  /** To be called when the first byte of an answer arrives that is read to its end. Absent where nothing depends on it. */
  readonly onFirstByte?: (() => void) | undefined;
}

/** Creates a Cancel and aborts it. */
export interface Canceller {
  readonly cancel: Cancel;
  /** Only the first reason is kept. Each listener is called once. */
  abort(reason: Error): void;
}

/** With `onEnd` and `onFirstByte` of the signal that it follows, if there is one. */
export function createCanceller(
  onEnd?: Cancel['onEnd'],
  onFirstByte?: Cancel['onFirstByte'],
): Canceller {
  return new LightCanceller(onEnd, onFirstByte);
}

class LightCanceller implements Canceller, Cancel {
  aborted = false;
  reason: unknown = undefined;
  // There are one or two listeners, so a list is small and quick to search.
  #listeners: (() => void)[] | undefined;
  readonly onEnd: Cancel['onEnd'];
  readonly onFirstByte: Cancel['onFirstByte'];

  constructor(onEnd: Cancel['onEnd'], onFirstByte: Cancel['onFirstByte']) {
    this.onEnd = onEnd;
    this.onFirstByte = onFirstByte;
  }

  get cancel(): Cancel {
    return this;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const place = this.#listeners?.indexOf(listener) ?? -1;
    if (place !== -1) this.#listeners?.splice(place, 1);
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }
}

/** Why work was to stop, as an error. */
export function abortReason({ reason }: Cancel): Error {
  return isError(reason) ? reason : new Error('the call was aborted');
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: Cancel): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', resolve, { once: true });
  });
}

/** Settles as the work does, or rejects with the reason of the signal when that is aborted first; the work goes on. */
export function raceAbort<Result>(
  work: Promise<Result>,
  signal: Cancel,
  failure: (signal: Cancel) => Error = abortReason,
): Promise<Result> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(failure(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}
