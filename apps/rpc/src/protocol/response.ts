import { JsonRpc, type JsonRpcError } from 'jsonrpc-lite';

/** A response object as text. The id is already JSON text, because a number would lose digits. */
export function successText(id: string, result: unknown): string {
  return envelope(id, 'result', result ?? null);
}

export function errorText(id: string, error: JsonRpcError): string {
  return envelope(id, 'error', error);
}

function envelope(id: string, name: 'result' | 'error', value: unknown): string {
  return `{"jsonrpc":"${JsonRpc.VERSION}","id":${id},"${name}":${JSON.stringify(value)}}`;
}
