/** What can go wrong with a realtime session, met by the client event that a fault is aimed at. */
export type RealtimeFault =
  /** Closes the connection in good order instead of answering. */
  | { readonly kind: 'close'; readonly code?: number; readonly reason?: string }
  /** Destroys the connection in the middle of a response. */
  | { readonly kind: 'cut'; readonly afterDeltas: number }
  /** Answers with an `error` event. */
  | { readonly kind: 'error'; readonly message?: string }
  /** Answers with a frame that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Does not answer. */
  | { readonly kind: 'silent' }
  /** Answers late. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Takes nothing more off the connection until `resumeReading`. */
  | { readonly kind: 'stop-reading' }
  /** Ends the response as failed. */
  | { readonly kind: 'failed' }
  /** Says nothing about tokens. */
  | { readonly kind: 'no-usage' };

/** The client event a fault is aimed at; without a target it meets `response.create`. `connect` is the opening itself. */
export type RealtimeOperation =
  | 'connect'
  | 'session.update'
  | 'input_audio_buffer.append'
  | 'input_audio_buffer.commit'
  | 'input_audio_buffer.clear'
  | 'input_image_buffer.append'
  | 'conversation.item.create'
  | 'response.create'
  | 'response.cancel';
