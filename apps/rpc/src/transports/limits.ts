/** The largest request, over either transport. */
export const RPC_MESSAGE_BYTES_MAX = 1024 * 1024;

/** The largest request with the admin token over HTTP: catalogues of prices have some megabytes. */
export const RPC_ADMIN_MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** A client that reads so slowly that more is unsent is disconnected. */
export const UNSENT_BYTES_MAX = 1024 * 1024;
