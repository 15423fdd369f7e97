import type { ServerResponse } from 'node:http';
import { createCanceller, type Cancel } from '@model-gateway/kernel';

/** Aborted when the client hangs up before it has the whole answer. */
export function clientGone(response: ServerResponse): Cancel {
  const canceller = createCanceller();
  const onClose = () => {
    if (!response.writableFinished) canceller.abort(new Error('the client went away'));
  };
  // It may have gone while its key was looked up.
  if (response.destroyed) onClose();
  else response.on('close', onClose);
  return canceller.cancel;
}
