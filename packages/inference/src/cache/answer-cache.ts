import type { ByteCache, Clock, Metrics } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { AdmittedCall, CallContext, NamedModels } from '../call/call.ts';
import { settle } from '../call/settle.ts';
import { allowedBy } from '../chat/model-rules.ts';
import type { Memory } from '../memory/memory.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import { SERVED_STATUS } from '../usage/served-status.ts';
import { createCacheCounts } from './cache-counts.ts';
import { cacheKey } from './cache-key.ts';
import { cacheUse } from './cache-use.ts';
import { isStateful, type StatefulFields } from './stateless.ts';
import { decodeAnswer, encodeAnswer, sendable, type SendableAnswer } from './stored-answer.ts';

/** The exact cache: equal calls of one tenant get the same answer again. */
export interface AnswerCache {
  /** What the cache has for an admitted call; undefined where no cache is set. A call that gets a stored answer is settled. */
  find(
    context: CallContext,
    admitted: AdmittedCall<NamedModels>,
    /** How the client wants to use the cache, as in the header `x-service-cache`. */
    wish: string | undefined,
    lookup: () => CacheLookup,
  ): Promise<FoundAnswer | undefined>;
}

/** A call as the cache looks it up. */
export interface CacheLookup {
  /** Where the same body would ask for something else. */
  readonly path: string;
  /** The fields that say whether the answer depends on more than the call. */
  readonly state: StatefulFields;
  /** What else the answer depends on. */
  readonly others: readonly (string | undefined)[];
  /** The whole body, as parsed; undefined for one that is too large to be compared. */
  readonly value: unknown;
}

/** What became of a lookup. */
export type FoundAnswer =
  | { readonly use: 'bypass' }
  | { readonly use: 'hit'; readonly answer: SendableAnswer }
  | {
      readonly use: 'miss';
      /** Stores what was sent, if the answer is complete. */
      readonly keep: (sent: SentAnswer) => void;
    };

/** What was sent as the answer to a call. */
export interface SentAnswer {
  /** Those that belong to the answer and not to its call; names and values alternate. */
  readonly headers: readonly string[];
  /** Undefined for one that is larger than `CACHED_BYTES_MAX`. */
  readonly body: Buffer | undefined;
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

const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
/** Of one stored answer. */
export const CACHED_BYTES_MAX = 1024 * 1024;

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

  async function read(key: string, ttlMs: number): Promise<SendableAnswer | undefined> {
    const bytes = await byteCache.get(key);
    if (bytes === undefined) return undefined;
    const answer = decoded.get(bytes) ?? decode(bytes);
    if (answer === undefined) return undefined;
    return answer.at + ttlMs > clock.now() ? answer : undefined;
  }

  /** No upstream is asked, so that the answer has no tokens and costs nothing. */
  async function settleStored(
    { surface, refId, startedAt, log: { trace } }: CallContext,
    { caller, reservation, body }: AdmittedCall<NamedModels>,
    { model }: SendableAnswer,
  ): Promise<void> {
    requests.accepted();
    const call = { caller, surface, model: body.model, refId, reservation, trace, startedAt };
    const answered = { lease: { model, backend: undefined } };
    await settle(call, answered, { usage: NO_TOKENS }, 'complete', meter);
  }

  function store(key: string, ttlMs: number, model: string, { headers, body }: SentAnswer): void {
    if (body === undefined) return count('too_large');
    const answer = encodeAnswer({ at: clock.now(), model, headers, body });
    void byteCache.put(key, answer, { expiresAfterMs: ttlMs }).then(() => count('stored'));
  }

  function keyOf(
    { caller, body, resolvedModel, fallbacks }: AdmittedCall<NamedModels>,
    { path, value, others, state }: CacheLookup,
    targets: Parameters<typeof cacheKey>[0]['targets'],
  ): string | undefined {
    if (value === undefined || isStateful(state, memory.isConfigured)) return undefined;
    const facts = {
      tenant: caller.groupId === null ? `user:${caller.userId}` : `group:${caller.groupId}`,
      path,
      model: body.model,
      resolvedModel,
      targets,
      fallbacks: fallbacks.map(({ model, resolved }) => ({
        model,
        resolvedModel: resolved,
        targets: router.routes.find(model, resolved)?.targets,
      })),
      headers: others,
    };
    return cacheKey(facts, value);
  }

  const isAllowed = (
    { caller, body, resolvedModel }: AdmittedCall<NamedModels>,
    served: string,
  ): boolean =>
    allowedBy(caller)?.({ requested: body.model, aliasTarget: resolvedModel, served }) ?? true;

  return {
    async find(context, admitted, wish, lookup) {
      const { body, resolvedModel, grant } = admitted;
      const rule = router.routes.find(body.model, resolvedModel);
      const ttls = { keySecs: grant.cacheTtlSecs, routeSecs: rule?.cacheTtlSecs };
      // A wish is checked even where no cache is set.
      const use = cacheUse(ttls, wish);
      if (use === undefined) return undefined;
      const key = use === 'bypass' ? undefined : keyOf(admitted, lookup(), rule?.targets);
      if (use === 'bypass' || key === undefined) {
        count('bypass');
        return { use: 'bypass' };
      }
      const { ttlMs, reads } = use;
      const answer = reads ? await read(key, ttlMs) : undefined;
      // The rules may have changed since the answer was stored.
      if (answer !== undefined && isAllowed(admitted, answer.model)) {
        count('hit');
        await settleStored(context, admitted, answer);
        return { use: 'hit', answer };
      }
      count('miss');
      return {
        use: 'miss',
        keep(sent) {
          const served = context.log.trace?.served;
          if (served?.status === SERVED_STATUS.complete) store(key, ttlMs, served.model, sent);
        },
      };
    },
  };
}
