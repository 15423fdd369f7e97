import type { RestErrorBody } from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';

/** The last event of a stream that was interrupted. */
export function errorEvent(failure: unknown): Buffer {
  const error = {
    message: describeError(failure),
    type: 'server_error',
    code: 'bad_gateway',
    param: null,
  };
  return Buffer.from(`data: ${JSON.stringify({ error } satisfies RestErrorBody)}\n\n`);
}
