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
}

/** Creates a Cancel and aborts it. */
export interface Canceller {
  readonly cancel: Cancel;
  /** Only the first reason is kept. Each listener is called once. */
  abort(reason: Error): void;
}

export function createCanceller(): Canceller {
  return new LightCanceller();
}

class LightCanceller implements Canceller, Cancel {
  aborted = false;
  reason: unknown = undefined;
  // There are one or two listeners, so a list is small and quick to search.
  #listeners: (() => void)[] | undefined;

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
