import { clipped } from '@model-gateway/contracts';
import { JsonRpc, JsonRpcError } from 'jsonrpc-lite';

/** An error response is smaller than this, whatever caused it. */
const ERROR_BYTES_MAX = 16 * 1024;
/** A character takes at most six bytes of JSON. */
const MESSAGE_CHARS_MAX = 2000;

/** A response object as text. The id is already JSON text, because a number would lose digits; so is the result. */
export function successText(id: string, result: string): string {
  return envelope(id, 'result', result);
}

export function errorText(id: string, error: JsonRpcError): string {
  const text = envelope(id, 'error', JSON.stringify(error));
  if (Buffer.byteLength(text) < ERROR_BYTES_MAX) return text;
  const shorter = new JsonRpcError(clipped(error.message, MESSAGE_CHARS_MAX), error.code);
  return envelope(id, 'error', JSON.stringify(shorter));
}

function envelope(id: string, name: 'result' | 'error', value: string): string {
  return `{"jsonrpc":"${JsonRpc.VERSION}","id":${id},"${name}":${value}}`;
}
