import type { ServerResponse } from 'node:http';
import { createCanceller, type Cancel } from '@model-gateway/kernel';

/** A signal that aborts when the client disconnects before it has the whole response. */
export function disconnectSignal(response: ServerResponse): Cancel {
  const canceller = createCanceller((listener) => {
    if (response.destroyed) listener();
    else response.once('close', listener);
  });
  const onClose = () => {
    if (!response.writableFinished) canceller.abort(new Error('the client disconnected'));
  };
  // The client may have disconnected while its key was looked up.
  if (response.destroyed) onClose();
  else response.on('close', onClose);
  return canceller.cancel;
}
