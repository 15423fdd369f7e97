/** Faults of any JSON-RPC call over a WebSocket. */
export type RpcFault =
  /** Responds with a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code?: number; readonly message?: string }
  /** Responds with a frame that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Never responds. */
  | { readonly kind: 'silent' }
  /** Responds late. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Closes the connection instead of responding. */
  | { readonly kind: 'close' };
