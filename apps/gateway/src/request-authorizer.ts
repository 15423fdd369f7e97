import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  parseJson,
  readBody,
  STORED_ITEMS_MAX,
  storedReaderFor,
  validated,
  type BodyMemory,
  type StoredReader,
} from '@model-gateway/http';
import {
  FREE_ADMISSION,
  isServable,
  modelNotAllowed,
  type Caller,
  type ExpectedUsage,
  type FallbackModel,
  type Quotas,
  type RequestedAdmission,
} from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { z } from 'zod';
import type { AuthorizedRequest } from './authorized-request.ts';
import type { AnswerCache, CacheOptions } from './cache/answer-cache.ts';
import type {
  AdmittedCaller,
  HeldCall,
  KeyAuthenticator,
  KeyedRequest,
} from './key-authenticator.ts';
import { setLimitHeaders } from './surface/limit-headers.ts';
import type { KeepBodies, KeptRequest } from './kept-bodies.ts';
import { ONE_STEP_CHARS_MAX, parseInSteps } from './parse-in-steps.ts';
import { tracedOf } from './traced-request.ts';

/** The models that a body names. */
interface RequestedModels {
  readonly model: string;
  /** Tried in this order when the model cannot answer. */
  readonly models?: readonly string[] | null | undefined;
}

/** Runs every check that an inference request must pass before it is routed. */
export interface RequestAuthorizer {
  /** Resolves to undefined when a refusal or a stored answer has already been sent. */
  authorizeRequest<Schema extends z.ZodType<RequestedModels>>(
    request: IncomingMessage,
    response: ServerResponse,
    schema: Schema,
    options: AuthorizationOptions<z.output<Schema>>,
  ): Promise<AuthorizedRequest<z.output<Schema>> | undefined>;
}

interface AuthorizationOptions<Body> {
  /** Reads what the schema describes, for a body that is not JSON. It may keep much, so limits are checked before. */
  readonly read?: (request: IncomingMessage, userId: string) => Promise<unknown>;
  /** Completes a body by what is stored for the user, once the request is admitted; then it reserves the rest. */
  readonly complete?: ((body: Body, reader: StoredReader) => Promise<Body>) | undefined;
  /** Called only if a quota can refuse the request. */
  readonly expected: (body: Body) => ExpectedUsage;
  /** For requests that create a job, which have a price whatever their model is; otherwise points pay only for models with a price. */
  readonly job?: (body: Body, resolvedModel: string) => Promise<JobRequest>;
  /** Answers a request that repeats an earlier one of the user, which no quota refuses; false when it does not. */
  readonly answerRepeated?:
    | ((repeated: { readonly userId: string; readonly body: Body }) => Promise<boolean>)
    | undefined;
  /** For requests whose answers may be stored for equal requests. */
  readonly cache?: CacheOptions<Body>;
}

/** The job that a request creates. */
interface JobRequest {
  readonly id: string;
  readonly costUsd: number;
}

/** An admitted request that what is stored for its user completes. */
interface CompletedRequest<Body> {
  /** With the other models that the first decision allows. */
  readonly admission: RequestedAdmission;
  readonly admitted: AdmittedCaller;
  readonly held: HeldCall;
  readonly options: AuthorizationOptions<Body>;
}

/** The same with what is stored for it, and the other models that its payer is covered for now. */
interface WholeRequest<Body> {
  readonly body: Body;
  readonly fallbacks: readonly FallbackModel[];
}

/** Whose request is read, and for which response. */
interface ReadContext {
  readonly userId: string;
  readonly keep: KeptRequest | undefined;
  readonly response: ServerResponse;
}

interface RequestAuthorizerDependencies {
  readonly keyAuthenticator: KeyAuthenticator;
  readonly quotas: Quotas;
  readonly router: Pick<Router, 'aliases' | 'targetsOf'>;
  readonly bodyBytesMax: number;
  readonly bodyMemory: BodyMemory;
  readonly answerCache: AnswerCache;
  readonly keepBodies: KeepBodies;
  /** Whether bodies are kept for keys that say nothing about it. */
  readonly logBodies: boolean;
}

export function createRequestAuthorizer(
  dependencies: RequestAuthorizerDependencies,
): RequestAuthorizer {
  const { keyAuthenticator, quotas, router, bodyBytesMax, keepBodies, logBodies } = dependencies;
  const { answerCache, bodyMemory: memory } = dependencies;

  /** What the body asks for, or what is wrong with it. */
  async function readRequest<Schema extends z.ZodType<RequestedModels>>(
    request: IncomingMessage,
    schema: Schema,
    { userId, keep, response }: ReadContext,
    { read, expected, job }: AuthorizationOptions<z.output<Schema>>,
  ) {
    let value: unknown;
    try {
      const counted = { memory, owner: userId, response };
      const text = read === undefined ? await readBody(request, bodyBytesMax, counted) : undefined;
      if (text !== undefined) keep?.(text);
      // Undefined for a body that is large or no JSON.
      value = text === undefined || text.length > ONE_STEP_CHARS_MAX ? undefined : parseJson(text);
      const body: z.output<Schema> =
        value !== undefined
          ? validated(schema, value)
          : text === undefined
            ? validated(schema, await read?.(request, userId))
            : await parseInSteps(schema, text);
      const resolvedModel = router.aliases.resolve(body.model);
      if (job === undefined) {
        return {
          body,
          value,
          resolvedModel,
          admission: {
            model: resolvedModel,
            requested: body.model,
            fallbacks: body.models?.map((model) => ({
              model,
              resolved: router.aliases.resolve(model),
            })),
            expected: () => expected(body),
          },
        };
      }
      const { id: jobId, costUsd } = await job(body, resolvedModel);
      const usage = () => ({ ...expected(body), costUsd });
      return {
        body,
        value,
        resolvedModel,
        admission: { model: null, expected: usage, jobId },
      };
    } catch (error) {
      return { error, model: namedModel(value) };
    }
  }

  /** The other models of a request that the rules allow; one that the quota does not cover is not tried. */
  async function coveredOf(
    fallbacks: readonly FallbackModel[],
    { caller, payer, passed }: AdmittedCaller,
    { call }: HeldCall,
  ): Promise<readonly FallbackModel[]> {
    const allowed = fallbacks.filter(({ model, resolved }) => mayUse(caller, model, resolved));
    return quotas.coveredFallbacks(payer, call, passed, allowed);
  }

  const mayUse = (
    { modelPolicy }: Pick<Caller, 'modelPolicy'>,
    requested: string,
    aliasTarget: string,
  ): boolean => modelPolicy === null || isServable(modelPolicy, router, { requested, aliasTarget });

  /** Refuses a request that neither its model nor another one of it may serve. */
  function assertAllowed(
    { modelPolicy }: Caller,
    model: string,
    resolvedModel: string,
    fallbacks: readonly FallbackModel[] = [],
  ): void {
    if (modelPolicy === null) return;
    const names = [{ model, resolved: resolvedModel }, ...fallbacks];
    if (names.some((name) => mayUse({ modelPolicy }, name.model, name.resolved))) return;
    throw modelNotAllowed(modelPolicy, model, resolvedModel);
  }

  /** The body with what is stored for it: its size is known and its memory is taken before it is read. */
  async function completed<Body extends RequestedModels>(
    body: Body,
    response: ServerResponse,
    { admission, admitted, held, options: { complete, expected } }: CompletedRequest<Body>,
  ): Promise<WholeRequest<Body>> {
    const { fallbacks = [] } = admission;
    if (complete === undefined) return { body, fallbacks };
    const { payer, caller } = admitted;
    const limits = { bytes: bodyBytesMax, items: STORED_ITEMS_MAX };
    const reader = storedReaderFor(response, { userId: caller.userId, memory, limits });
    const whole = await complete(body, reader);
    if (reader.total.bytes === 0) return { body: whole, fallbacks };
    const more = { ...admission, expected: () => expected(whole) };
    return { body: whole, fallbacks: await quotas.admitAgain(payer, held.reservation, more) };
  }

  /** Ends a call that began before its body was read, unless it goes on. */
  async function admitAfterReading(
    keyed: KeyedRequest,
    response: ServerResponse,
    read: { readonly admission?: RequestedAdmission; readonly error?: unknown },
    begun: AdmittedCaller,
  ): Promise<AdmittedCaller | undefined> {
    let admitted: AdmittedCaller | undefined;
    try {
      if (read.admission === undefined) {
        setLimitHeaders(response, begun.limitHeaders);
        throw read.error;
      }
      admitted = await keyAuthenticator.admit(keyed, response, read.admission, begun);
      return admitted;
    } finally {
      if (admitted === undefined) begun.held?.reservation.end();
    }
  }

  return {
    async authorizeRequest(request, response, schema, options) {
      const startedAt = performance.now();
      const authenticating = keyAuthenticator.authenticate(request, response);
      const keyed = authenticating instanceof Promise ? await authenticating : authenticating;
      if (keyed === undefined) return undefined;
      // What a request reserves depends on its body. Problems with limits are reported before problems with the body.
      const { holder, settings } = keyed.known.grant;
      const keep = (settings.logBodies ?? logBodies) ? keepBodies(response) : undefined;
      const { userId } = holder;
      // A body that may be kept on the disk is not read before the limits allow its request.
      const begun =
        options.read === undefined
          ? undefined
          : await keyAuthenticator.admit(keyed, response, FREE_ADMISSION);
      if (begun === undefined && options.read !== undefined) return undefined;
      const read = await readRequest(request, schema, { userId, keep, response }, options);
      const traced = tracedOf(response);
      if (traced !== undefined) traced.model = read.body?.model ?? read.model;
      const admitted = await (begun === undefined
        ? keyAuthenticator.admit(keyed, response, read.admission)
        : admitAfterReading(keyed, response, read, begun));
      if (admitted === undefined) return undefined;
      const { caller, payer, passed, limitHeaders, cacheTtlSecs, held } = admitted;
      if (read.admission === undefined || held === undefined) {
        setLimitHeaders(response, limitHeaders);
        throw read.error;
      }
      const { value, resolvedModel, admission } = read;
      let { body } = read;
      const { call, reservation } = held;
      let fallbacks: readonly FallbackModel[] = [];
      try {
        if (options.answerRepeated !== undefined) {
          setLimitHeaders(response, limitHeaders);
          if (await options.answerRepeated({ userId, body })) {
            reservation.end();
            return undefined;
          }
        }
        const covering = quotas.assertCovered(payer, call, passed, admission);
        if (covering !== undefined) await covering;
        assertAllowed(caller, body.model, resolvedModel, admission.fallbacks);
        if (admission.fallbacks !== undefined)
          fallbacks = await coveredOf(admission.fallbacks, admitted, held);
        if (options.complete !== undefined) {
          const allowed = { ...admission, fallbacks };
          const completing = { admission: allowed, admitted, held, options };
          ({ body, fallbacks } = await completed(body, response, completing));
        }
      } catch (error) {
        setLimitHeaders(response, limitHeaders);
        reservation.end();
        throw error;
      }
      const trace = traced?.trace;
      const authorized = {
        caller,
        body,
        resolvedModel,
        fallbacks,
        limitHeaders,
        startedAt,
        reservation,
        trace,
      };
      if (options.cache === undefined) return authorized;
      return answerCache.serve(authorized, {
        options: options.cache,
        request,
        response,
        value,
        keySecs: cacheTtlSecs,
      });
    },
  };
}

/** The model that a body names which is refused for another field. */
function namedModel(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('model' in body)) return undefined;
  return typeof body.model === 'string' ? body.model : undefined;
}
