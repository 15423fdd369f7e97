/** An abort controller that follows other signals and lets go of them when it is no longer needed. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(): void;
  unlink(): void;
}

// AbortSignal.any keeps its sources alive in the Node versions that are supported; this one is let go explicitly.
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
