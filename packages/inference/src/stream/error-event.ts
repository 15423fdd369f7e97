import { ServiceError, type RestErrorBody } from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';

/** The last event of a stream that is not whole. */
export function errorEvent(failure: unknown): Buffer {
  const code = failure instanceof ServiceError ? failure.code : 'bad_gateway';
  const error = { message: describeError(failure), type: 'server_error', code, param: null };
  return Buffer.from(`data: ${JSON.stringify({ error } satisfies RestErrorBody)}\n\n`);
}
