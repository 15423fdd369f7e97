import type { ServerResponse } from 'node:http';

/** Aborted when the client hangs up before it has the whole answer. */
export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client went away'));
  });
  return controller.signal;
}
