import type { RpcFault } from '../faults/rpc-faults.ts';

/** Everything that can go wrong with an engine: any call, or the chunks that follow `Engine.ChatStart`. */
export type EngineFault =
  | RpcFault
  /** Destroys the connection in the middle of a stream. */
  | { readonly kind: 'cut'; readonly afterChunks: number }
  /** Sends a frame that is not JSON in the middle of a stream, then goes on. */
  | { readonly kind: 'garbage-chunk'; readonly afterChunks: number }
  /** Stops sending chunks and keeps the connection open. */
  | { readonly kind: 'stall'; readonly afterChunks: number }
  /** Says nothing about tokens. */
  | { readonly kind: 'no-usage' };

/** The methods of the engine protocol; without a target a fault meets chat, embeddings and invocation. */
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
