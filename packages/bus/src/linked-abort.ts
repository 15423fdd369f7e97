/** An abort controller that follows other signals until it is unlinked. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(): void;
  unlink(): void;
}

// AbortSignal.any leaks its sources in the supported Node versions; this one is unlinked explicitly.
export function linkedAbort(...sources: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const source of sources) {
    if (source.aborted) abort();
    else source.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    abort,
    unlink: () => {
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}
