import type { ServerResponse } from 'node:http';
import { describeError, type Log } from '@model-gateway/kernel';
import { HTTP_STATUS, ToolError, type ToolErrorCode } from '../../errors.ts';

const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;
const SESSION_NOT_FOUND = -32_001;

const RPC_CODES: Partial<Record<ToolErrorCode, number>> = {
  INVALID_JSON: PARSE_ERROR,
  SESSION_NOT_FOUND,
};

/** Sends an error that concerns the whole HTTP request as a JSON-RPC error without an id. */
export function sendRpcError(response: ServerResponse, error: unknown, log: Log): void {
  const known =
    error instanceof ToolError
      ? error
      : new ToolError('INTERNAL', describeError(error), { cause: error });
  if (known.code === 'INTERNAL') log.error({ error }, 'a request failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, sentence: message, hint, details } = known;
  response.writeHead(HTTP_STATUS[code], {
    'content-type': 'application/json; charset=utf-8',
    ...(code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(
    JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: RPC_CODES[code] ?? SERVER_ERROR, message, data: { code, hint, details } },
    }),
  );
}
