/**
 * What work listens to, so that it can stop early. Every AbortSignal is one; but making an AbortSignal costs a served
 * request more than its routing does, so requests are given the light one below.
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

/** Whoever decides that the work is to stop. */
export interface Canceller {
  readonly cancel: Cancel;
  /** The first reason counts. Each listener is told once. */
  abort(reason: Error): void;
}

export function createCanceller(): Canceller {
  return new LightCanceller();
}

class LightCanceller implements Canceller, Cancel {
  aborted = false;
  reason: unknown = undefined;
  // One or two, so a list is as quick to search as anything, and much smaller.
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
