/** How much of a response is read after its last event, and for how long. */
const BYTES_MAX = 64 * 1024;
export const END_OF_BODY_MS_MAX = 250;

/**
 * Reads what follows the last event of a response, in the background and within limits: only a response that was read to its
 * end leaves a connection that can be used again. Then, or over a limit, the response is cancelled.
 */
export function readToEnd(source: AsyncIterator<Uint8Array>): void {
  const cancel = (): void => void source.return?.().catch(() => undefined);
  const timer = setTimeout(cancel, END_OF_BODY_MS_MAX).unref();
  discard(source)
    // The response was complete; a failure of its connection does not matter.
    .catch(() => undefined)
    .finally(() => {
      clearTimeout(timer);
      cancel();
    });
}

async function discard(source: AsyncIterator<Uint8Array>): Promise<void> {
  let bytes = 0;
  while (bytes <= BYTES_MAX) {
    const next = await source.next();
    if (next.done === true) return;
    bytes += next.value.length;
  }
}
