/** What can go wrong with any JSON-RPC call over a WebSocket. */
export type RpcFault =
  /** Answers with a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code?: number; readonly message?: string }
  /** Answers with a frame that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Never answers. */
  | { readonly kind: 'silent' }
  /** Answers late. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Ends the connection instead of answering. */
  | { readonly kind: 'close' };
