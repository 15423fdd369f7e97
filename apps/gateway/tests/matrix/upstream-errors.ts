import type { ClientName } from './features.ts';

/** An error of an upstream, and what clients of each API get. */
interface ErrorCase {
  readonly why: string;
  readonly status: number;
  /** The client asks for the errors of the upstream. */
  readonly isPassed?: boolean;
  readonly gets: Readonly<Record<ClientName, { readonly status: number; readonly type: unknown }>>;
}

const anyType: unknown = expect.any(String);
/** Only chat completions wrap the errors of upstreams. */
const wrapped = { status: 502, type: 'server_error' };
const failed = {
  chat: wrapped,
  responses: { status: 502, type: 'server_error' },
  messages: { status: 500, type: 'api_error' },
};
const overloaded = { ...failed, messages: { status: 529, type: 'overloaded_error' } };

/** Errors of upstreams of any kind that has statuses. */
export const ERROR_CASES: readonly ErrorCase[] = [
  {
    why: '400',
    status: 400,
    gets: {
      chat: wrapped,
      responses: { status: 400, type: 'invalid_request_error' },
      messages: { status: 400, type: 'invalid_request_error' },
    },
  },
  { why: '401', status: 401, gets: failed },
  { why: '500', status: 500, gets: failed },
  { why: '503', status: 503, gets: overloaded },
  {
    why: '429',
    status: 429,
    gets: {
      chat: wrapped,
      responses: { status: 429, type: anyType },
      messages: { status: 429, type: 'rate_limit_error' },
    },
  },
  {
    why: '400 for a client that asks for it',
    status: 400,
    isPassed: true,
    gets: {
      chat: { status: 400, type: anyType },
      responses: { status: 400, type: 'invalid_request_error' },
      messages: { status: 400, type: 'invalid_request_error' },
    },
  },
  {
    why: '429 for a client that asks for it',
    status: 429,
    isPassed: true,
    gets: {
      chat: { status: 429, type: anyType },
      responses: { status: 429, type: anyType },
      messages: { status: 429, type: 'rate_limit_error' },
    },
  },
  { why: '503 for a client that asks for it', status: 503, isPassed: true, gets: overloaded },
];
