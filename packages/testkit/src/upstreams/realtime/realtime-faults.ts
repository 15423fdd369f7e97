/** Faults of a realtime session, which apply to a client event. */
export type RealtimeFault =
  /** Closes the connection cleanly instead of responding. */
  | { readonly kind: 'close'; readonly code?: number; readonly reason?: string }
  /** Destroys the connection in the middle of a response. */
  | { readonly kind: 'cut'; readonly afterDeltas: number }
  /** Responds with an `error` event. */
  | { readonly kind: 'error'; readonly message?: string }
  /** Responds with a frame that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Does not respond. */
  | { readonly kind: 'silent' }
  /** Responds late. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Stops reading from the connection until `resumeReading`. */
  | { readonly kind: 'stop-reading' }
  /** Ends the response as failed. */
  | { readonly kind: 'failed' }
  /** Sends no usage. */
  | { readonly kind: 'no-usage' };

/** The client events that a fault can apply to; by default `response.create`. `connect` is the opening itself. */
export const REALTIME_OPERATIONS = [
  'connect',
  'session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'input_image_buffer.append',
  'conversation.item.create',
  'response.create',
  'response.cancel',
] as const;
export type RealtimeOperation = (typeof REALTIME_OPERATIONS)[number];
