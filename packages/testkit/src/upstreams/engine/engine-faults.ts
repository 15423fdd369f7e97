import type { RpcFault } from '../faults/rpc-faults.ts';

/** The faults of an engine: of any call, or of the chunks after `Engine.ChatStart`. */
export type EngineFault =
  | RpcFault
  /** Destroys the connection in the middle of a stream. */
  | { readonly kind: 'cut'; readonly afterChunks: number }
  /** Sends a frame that is not JSON in the middle of a stream, then continues. */
  | { readonly kind: 'garbage-chunk'; readonly afterChunks: number }
  /** Stops sending chunks and keeps the connection open. */
  | { readonly kind: 'stall'; readonly afterChunks: number }
  /** Sends no usage. */
  | { readonly kind: 'no-usage' };

/** The methods of the engine protocol; by default a fault applies to chat, embeddings and invocation. */
export type EngineMethod =
  | 'Engine.Handshake'
  | 'Engine.Models'
  | 'Engine.Chat'
  | 'Engine.ChatStart'
  | 'Engine.ChatCancel'
  | 'Engine.Embeddings'
  | 'Engine.Invoke'
  | 'Engine.RealtimeStart'
  | 'Engine.RealtimeEvent'
  | 'Engine.RealtimeStop';
