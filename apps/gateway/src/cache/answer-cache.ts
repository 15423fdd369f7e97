import type { IncomingMessage } from 'node:http';
import { beginResponse, pathOf } from '@model-gateway/http';
import {
  allowedBy,
  SERVED_STATUS,
  settle,
  type AdmittedCall,
  type Memory,
  type Meter,
  type NamedModels,
  type RequestCounter,
} from '@model-gateway/inference';
import type { ByteCache, Clock, Metrics } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { HttpCall } from '../surface/http-call.ts';
import { createCacheCounts } from './cache-counts.ts';
import { cacheKey } from './cache-key.ts';
import { cacheUse } from './cache-use.ts';
import { recordAnswer, type RecordedAnswer } from './record-answer.ts';
import { isStateful, type StatefulFields } from './stateless.ts';
import { decodeAnswer, encodeAnswer, sendable, type SendableAnswer } from './stored-answer.ts';

/** The exact cache: equal requests of one tenant get the same answer again. */
export interface AnswerCache {
  /**
   * Sends a stored answer and resolves to true, when the call has ended; otherwise the answer to the request is stored if it is
   * complete.
   */
  answers<Body extends NamedModels>(
    call: HttpCall,
    admitted: AdmittedCall<Body>,
    lookup: CacheLookup<Body>,
  ): Promise<boolean>;
}

/** How the requests of a route are cached. */
export interface CacheOptions<Body> {
  /** The fields that say whether the answer depends on more than the request. */
  readonly state: (body: Body) => StatefulFields;
  /** The names of headers that the answer depends on. */
  readonly headers?: readonly string[];
}

/** A request as the cache looks it up. */
export interface CacheLookup<Body> {
  readonly options: CacheOptions<Body>;
  /** The whole body, as parsed; undefined for one that is too large to be compared. */
  readonly value: unknown;
}

interface AnswerCacheDependencies {
  readonly byteCache: ByteCache;
  readonly router: { readonly routes: Pick<Router['routes'], 'find'> };
  readonly memory: Pick<Memory, 'isConfigured'>;
  readonly meter: Pick<Meter, 'record' | 'failed'>;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

type RouteRule = NonNullable<ReturnType<Router['routes']['find']>>;

const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const ANSWER_BYTES_MAX = 1024 * 1024;
const HEADER = 'x-service-cache';

export function createAnswerCache(dependencies: AnswerCacheDependencies): AnswerCache {
  const { byteCache, router, memory, meter, requests, metrics, clock } = dependencies;
  const count = createCacheCounts(metrics);
  /** Decoded answers by their bytes: the bytes of an answer stay the same object in this process. */
  const decoded = new WeakMap<Uint8Array, SendableAnswer>();

  function decode(bytes: Uint8Array): SendableAnswer | undefined {
    const stored = decodeAnswer(bytes);
    if (stored === undefined) return undefined;
    const answer = sendable(stored);
    decoded.set(bytes, answer);
    return answer;
  }

  async function find(key: string, ttlMs: number): Promise<SendableAnswer | undefined> {
    const bytes = await byteCache.get(key);
    if (bytes === undefined) return undefined;
    const answer = decoded.get(bytes) ?? decode(bytes);
    if (answer === undefined) return undefined;
    return answer.at + ttlMs > clock.now() ? answer : undefined;
  }

  async function sendStored(
    call: HttpCall,
    { caller, reservation, body: { model: requested } }: AdmittedCall<NamedModels>,
    { model, allHeaders, content }: SendableAnswer,
  ): Promise<void> {
    const { surface, refId, startedAt, log, response } = call;
    requests.accepted();
    const repeated = { caller, surface, model: requested, refId, reservation, startedAt };
    const stored = { lease: { model, backend: undefined } };
    await settle(
      { ...repeated, trace: log.trace },
      stored,
      { usage: NO_TOKENS },
      'complete',
      meter,
    );
    beginResponse(response, 200, [...call.headers, ...allHeaders]);
    response.end(content);
  }

  function store(key: string, ttlMs: number, model: string, recorded: RecordedAnswer): void {
    const { headers, body } = recorded;
    if (body === undefined) return count('too_large');
    const answer = encodeAnswer({ at: clock.now(), model, headers, body });
    void byteCache.put(key, answer, { expiresAfterMs: ttlMs }).then(() => count('stored'));
  }

  function keyOf<Body extends NamedModels>(
    request: IncomingMessage,
    { caller, body, resolvedModel, fallbacks }: AdmittedCall<Body>,
    { value, options: { state, headers = [] } }: CacheLookup<Body>,
    targets: Parameters<typeof cacheKey>[0]['targets'],
  ): string | undefined {
    if (value === undefined || isStateful(request, state(body), memory.isConfigured))
      return undefined;
    const facts = {
      tenant: caller.groupId === null ? `user:${caller.userId}` : `group:${caller.groupId}`,
      path: pathOf(request),
      model: body.model,
      resolvedModel,
      targets,
      fallbacks: fallbacks.map(({ model, resolved }) => ({
        model,
        resolvedModel: resolved,
        targets: router.routes.find(model, resolved)?.targets,
      })),
      headers: headers.map((name) => request.headers[name]?.toString()),
    };
    return cacheKey(facts, value);
  }

  async function lookUp<Body extends NamedModels>(
    call: HttpCall,
    admitted: AdmittedCall<Body>,
    lookup: CacheLookup<Body>,
    rule: RouteRule | undefined,
  ): Promise<boolean> {
    const { request, response, log } = call;
    const ttls = { keySecs: admitted.grant.cacheTtlSecs, routeSecs: rule?.cacheTtlSecs };
    const use = cacheUse(ttls, request.headers[HEADER]?.toString());
    if (use === undefined) return false;
    const key = use === 'bypass' ? undefined : keyOf(request, admitted, lookup, rule?.targets);
    if (use === 'bypass' || key === undefined) {
      count('bypass');
      call.headers = [...call.headers, HEADER, 'bypass'];
      return false;
    }
    const { ttlMs, reads } = use;
    const found = reads ? await find(key, ttlMs) : undefined;
    // The rules may have changed since the answer was stored.
    if (found !== undefined && isAllowed(admitted, found.model)) {
      count('hit');
      await sendStored(call, admitted, found);
      return true;
    }
    count('miss');
    recordAnswer(response, ANSWER_BYTES_MAX, (recorded) => {
      const served = log.trace?.served;
      const isWhole =
        recorded.status === SERVED_STATUS.complete &&
        served?.status === SERVED_STATUS.complete &&
        !response.destroyed;
      if (isWhole) store(key, ttlMs, served.model, recorded);
    });
    call.headers = [...call.headers, HEADER, 'miss'];
    return false;
  }

  const isAllowed = (
    { caller, body, resolvedModel }: AdmittedCall<NamedModels>,
    served: string,
  ): boolean =>
    allowedBy(caller)?.({ requested: body.model, aliasTarget: resolvedModel, served }) ?? true;

  return {
    async answers(call, admitted, lookup) {
      const { body, resolvedModel, grant, reservation } = admitted;
      const rule = router.routes.find(body.model, resolvedModel);
      const isSet = grant.cacheTtlSecs !== null || rule?.cacheTtlSecs !== undefined;
      // A header is checked even where no cache is set.
      if (!isSet && call.request.headers[HEADER] === undefined) return false;
      try {
        const isAnswered = await lookUp(call, admitted, lookup, rule);
        if (isAnswered) reservation.end();
        return isAnswered;
      } catch (error) {
        reservation.end();
        throw error;
      }
    },
  };
}
