/** The largest request, over either transport. */
export const RPC_MESSAGE_BYTES_MAX = 1024 * 1024;

/** A client that reads so slowly that this much is unsent loses its connection; nobody else notices. */
export const UNSENT_BYTES_MAX = 1024 * 1024;
