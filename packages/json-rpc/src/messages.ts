/** The error codes that JSON-RPC 2.0 itself defines. */
export const RPC_ERRORS = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
} as const;

/** A message of a peer: with a method it is a call, or a notification if it has no id; otherwise an answer. */
export interface RpcMessage {
  readonly id?: string | number | null | undefined;
  readonly method?: string | undefined;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

export function serializeMessage(message: RpcMessage): string {
  return JSON.stringify({ jsonrpc: '2.0', ...message });
}

/** Whether a value is a message of JSON-RPC. Parsing is the caller's: this package is also for browsers. */
export function isMessage(value: unknown): value is RpcMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { id, method, error } = value as Partial<Record<keyof RpcMessage, unknown>>;
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  return (
    isId &&
    (method === undefined || typeof method === 'string') &&
    (error === undefined || isRpcFailure(error))
  );
}

/** Whether a value is the error of an answer. */
export function isRpcFailure(value: unknown): value is NonNullable<RpcMessage['error']> {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as { readonly code?: unknown; readonly message?: unknown };
  return Number.isInteger(code) && typeof message === 'string';
}
