import { pathOf } from '@model-gateway/http';
import {
  CACHED_BYTES_MAX,
  type AdmittedCall,
  type AnswerCache,
  type NamedModels,
  type StatefulFields,
} from '@model-gateway/inference';
import { keepAnswer } from '../surface/http-answer.ts';
import type { HttpCall } from '../surface/http-call.ts';

/** How the requests of a route are cached. */
export interface CacheOptions<Body> {
  /** The fields that say whether the answer depends on more than the request. */
  readonly state: (body: Body) => StatefulFields;
  /** The names of headers that the answer depends on. */
  readonly headers?: readonly string[];
}

const HEADER = 'x-service-cache';
/** The headers that belong to an answer and not to its request. */
const KEPT_HEADERS = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-service-backend',
  'x-service-ignored',
  'x-service-memory',
  'x-service-route',
]);
const KEPT = { names: KEPT_HEADERS, bytesMax: CACHED_BYTES_MAX };

/**
 * Sends a stored answer and resolves to true, when the call has ended; otherwise the answer to the request is stored if it is
 * complete.
 */
export async function answerFromCache<Body extends NamedModels>(
  call: HttpCall,
  admitted: AdmittedCall<Body>,
  { state, headers = [] }: CacheOptions<Body>,
  value: unknown,
  cache: AnswerCache,
): Promise<boolean> {
  const { request, response, answer } = call;
  const wish = request.headers[HEADER]?.toString();
  const found = await cache.find(call, admitted, wish, () => ({
    path: pathOf(request),
    state: withSession(state(admitted.body), request.headers['x-session-id']),
    others: headers.map((name) => request.headers[name]?.toString()),
    value,
  }));
  if (found === undefined) return false;
  if (found.use === 'hit') {
    const { allHeaders, content } = found.answer;
    answer.begin([...call.headers, ...allHeaders]);
    answer.end(content);
    return true;
  }
  if (found.use === 'miss') {
    keepAnswer(answer, KEPT, (sent) => {
      if (!response.destroyed) found.keep(sent);
    });
  }
  call.headers = [...call.headers, HEADER, found.use];
  return false;
}

/** A request of a session continues what was sent before. */
const withSession = (state: StatefulFields, sessionId: unknown): StatefulFields =>
  sessionId === undefined ? state : { ...state, continues: true };
