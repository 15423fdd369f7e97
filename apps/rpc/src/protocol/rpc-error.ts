import {
  ERROR_HELP,
  RPC_ERROR_CODES,
  ServiceError,
  STORE_RETRY_SECS,
} from '@model-gateway/contracts';
import { isError, newId, type Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';

const INTERNAL_ERROR = RPC_ERROR_CODES.internal_error;

/** The error object for anything that was thrown. Internal errors are logged and sent without their text. */
export function toRpcError(error: unknown, log: Log): JsonRpcError {
  const known = error instanceof ServiceError ? error : tooDeep(error);
  const code = RPC_ERROR_CODES[known?.code ?? 'internal_error'];
  if (known === undefined || code === INTERNAL_ERROR) {
    const request_id = newId();
    const remedy = known === undefined ? undefined : ERROR_HELP[known.code].remedy;
    log.error({ error, request_id, remedy }, 'an RPC call failed');
    const retry = known?.code === 'store_unavailable' ? { retry_after_secs: STORE_RETRY_SECS } : {};
    const data = { request_id, ...retry };
    return new JsonRpcError(known?.message ?? 'internal error', INTERNAL_ERROR, data);
  }
  return known.details === undefined
    ? new JsonRpcError(known.message, code)
    : new JsonRpcError(known.message, code, known.details);
}

/** Params nested so deeply that the stack overflowed are a client mistake. */
function tooDeep(error: unknown): ServiceError | undefined {
  const isOverflow =
    isError(error) && error.name === 'RangeError' && error.message.includes('call stack');
  return isOverflow
    ? new ServiceError('invalid_request', 'Invalid request: it is nested too deeply')
    : undefined;
}
