import type { ServerResponse } from 'node:http';

/** Aborted when the client hangs up before it has the whole answer. */
export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new Error('the client went away'));
  };
  // It may have gone while its key was looked up.
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return controller.signal;
}
