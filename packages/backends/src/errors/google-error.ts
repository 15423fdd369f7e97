const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const KEY_REFUSED = /"reason":\s*"API_KEY_INVALID"/;
/** An error instead of an answer can be as long as one. */
const CHARS_READ = 64 * 1024;
const RETRY_DELAY = /"retryDelay":\s*"(\d{1,9}(?:\.\d{1,9})?)s"/;

/** The status that an error would have elsewhere: for Google a key that is unknown or has expired is a 400. */
export const statusOf = (status: number, body: string): number =>
  status === BAD_REQUEST && KEY_REFUSED.test(body.slice(0, CHARS_READ)) ? UNAUTHORIZED : status;

/** When Google says that a request can be tried again, as a header would: in its APIs it is in the body. */
export const retryDelayIn = (body: string): string | undefined =>
  RETRY_DELAY.exec(body.slice(0, CHARS_READ))?.[1];
