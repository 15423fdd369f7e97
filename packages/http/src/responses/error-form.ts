import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptsOnlyJson } from '../requests/accepts-only-json.ts';

/** What decides about the form of an error: the request, or an operator for all requests. */
export const ERROR_FORMS = ['auto', 'openai', 'specified'] as const;

/**
 * `specified` is the specification to the letter: a refused key and the limit of the process as plain text, 502 for each error of an
 * upstream. `openai` is always JSON, with the status and the fields of the upstream where they are about the request.
 */
export type ErrorForm = Exclude<(typeof ERROR_FORMS)[number], 'auto'>;

/** `own` is the form of an API besides the specified ones, which a request cannot change. */
type ErrorForms = (typeof ERROR_FORMS)[number] | 'own';

/** By what a request shows that a client of OpenAI's API sends it. Clients that show nothing else send no `Accept` or no name. */
const CLIENT_HEADERS = /^(?:x-stainless-.*|openai-.*|anthropic-version)$/;
const CLIENT_NAMES = /openai|anthropic|langchain|spring-ai|litellm|semantic-kernel/i;
const EVENT_STREAM = /text\/event-stream/i;

/** The header by which a request decides for itself. */
const REQUESTED: Readonly<Record<string, ErrorForm | undefined>> = {
  upstream: 'openai',
  specified: 'specified',
};

const FORMS = Symbol('what decides about the form of an error');

interface Formed {
  [FORMS]?: ErrorForms;
}

/** From now on this decides about the form of an error of this response. */
export function setErrorForms(response: ServerResponse & Formed, forms: ErrorForms): void {
  response[FORMS] = forms;
}

/** The form that an error of this response has. */
export function errorFormOf(response: ServerResponse & Formed): ErrorForm {
  const { [FORMS]: forms = 'specified', req: request } = response;
  if (forms === 'own') return 'openai';
  const requested = REQUESTED[String(request.headers['x-service-errors'])];
  if (requested !== undefined) return requested;
  if (forms !== 'auto') return forms;
  return isOpenAiClient(request) ? 'openai' : 'specified';
}

/** Whether a request shows that its client knows the errors of OpenAI's API. */
export function isOpenAiClient(request: Pick<IncomingMessage, 'headers'>): boolean {
  const { accept, 'user-agent': name } = request.headers;
  if (accept === undefined || name === undefined) return true;
  if (CLIENT_NAMES.test(name) || EVENT_STREAM.test(accept) || acceptsOnlyJson(request)) return true;
  return Object.keys(request.headers).some((header) => CLIENT_HEADERS.test(header));
}
