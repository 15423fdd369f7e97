import type { ServerResponse } from 'node:http';

interface ClientEnd {
  /** Aborts when the client disconnects before it has the whole response. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client has the response, or has left. */
  readonly onEnd: (listener: () => void) => void;
}

/** How the client of a response ends. */
export function disconnectSignal(response: ServerResponse): ClientEnd {
  const ending = createEnding();
  const controller = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new Error('the client disconnected'));
    ending.end();
  };
  // The client may have disconnected while its key was looked up.
  if (response.destroyed) onClose();
  else response.on('close', onClose);
  return { signal: controller.signal, onEnd: ending.onEnd };
}

/**
 * Apart from the response, to which the signal must not point: calls outlive their response by some garbage collections, and
 * would keep all of it in memory so long.
 */
function createEnding(): { readonly onEnd: (listener: () => void) => void; end(): void } {
  let isOver = false;
  let listeners: (() => void)[] = [];
  return {
    onEnd(listener) {
      if (isOver) listener();
      else listeners.push(listener);
    },
    end() {
      isOver = true;
      const ended = listeners;
      listeners = [];
      for (const listener of ended) listener();
    },
  };
}
