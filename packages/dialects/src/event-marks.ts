/** After the last event of a stream that did not fail. */
export const DONE = 'data: [DONE]\n\n';

/** For clients and agents that count comments; others count only events. */
export const KEEP_ALIVE = ': keep-alive\n\n';
