import { ServiceError, type ErrorCode } from '@model-gateway/contracts';
import { errorAnchor, errorDocsPage } from '@model-gateway/http';
import { JsonRpcError } from 'jsonrpc-lite';

/** The errors of the protocol itself, by their code. */
const PROTOCOL_ERRORS: Readonly<Record<number, ErrorCode>> = {
  [-32_700]: 'invalid_json',
  [-32_600]: 'invalid_request',
  [-32_601]: 'method_not_allowed',
};

/** Adds the address of the explanation to an error object. */
export type DocumentError = (error: JsonRpcError, cause?: unknown) => JsonRpcError;

/** Leaves errors as they are where the public address is not known. */
export function createDocumentError(publicUrl: string | undefined): DocumentError {
  if (publicUrl === undefined) return (error) => error;
  const page = errorDocsPage(publicUrl);
  return (error, cause) => {
    const name = cause instanceof ServiceError ? cause.code : PROTOCOL_ERRORS[error.code];
    const data: unknown = error.data ?? {};
    // What is in `data` already stays as it is.
    if (typeof data !== 'object' || Array.isArray(data) || data === null) return error;
    const doc = `${page}#${errorAnchor(name ?? 'internal_error')}`;
    return new JsonRpcError(error.message, error.code, { ...data, doc });
  };
}
