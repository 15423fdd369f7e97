import type { ServerResponse } from 'node:http';
import { createCanceller, type Cancel } from '@model-gateway/kernel';

/** A signal that aborts when the client disconnects before it has the whole response. */
export function disconnectSignal(response: ServerResponse): Cancel {
  const ending = createEnding();
  const canceller = createCanceller(ending.onEnd);
  const onClose = () => {
    if (!response.writableFinished) canceller.abort(new Error('the client disconnected'));
    ending.end();
  };
  // The client may have disconnected while its key was looked up.
  if (response.destroyed) onClose();
  else response.on('close', onClose);
  return canceller.cancel;
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
