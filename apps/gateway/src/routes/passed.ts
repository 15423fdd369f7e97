import { DONE, KEEP_ALIVE } from '@model-gateway/dialects';
import type { ServerResponse } from 'node:http';
import {
  completionsRequestSchema,
  imagesRequestSchema,
  moderationsRequestSchema,
  rerankRequestSchema,
  speechRequestSchema,
  type ProviderHint,
} from '@model-gateway/contracts';
import {
  errorEvent,
  expectedPassed,
  jsonSource,
  PASSED_OPERATIONS,
  passCall,
  streamsText,
  type AdmittedCall,
  type PassedCall,
  type PassedFields,
  type PassedOperation,
  type PassedSource,
} from '@model-gateway/inference';
import { z } from 'zod';
import type { CacheOptions } from '../cache/answer-cache.ts';
import { setLimitHeaders } from '../surface/limit-headers.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { sendEvents } from '../openai/write-events.ts';
import { writePassed } from '../openai/write-passed.ts';
import type { CallRoute, HttpCall } from '../surface/http-call.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';

/** What a passed call needs to be served. */
export type PassedRouteDependencies = Parameters<typeof passCall>[1] & {
  readonly admission: HttpAdmission;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
};

/** The body of a passed request. */
export interface PassedBody extends PassedFields {
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly provider?: ProviderHint | null | undefined;
}

/** The model that official clients leave out, because it is the default of the API. */
const MODERATION_MODEL = 'omni-moderation-latest';

// Texts and numbers; images and audio would take much room. Memory is for chats.
const CACHED: CacheOptions<PassedBody> = { state: () => ({ memory: false }) };

/** The routes whose JSON passes to upstreams without translation. */
export function createPassedRoutes(dependencies: PassedRouteDependencies): readonly CallRoute[] {
  const { completions, rerank, moderations, images, speech } = PASSED_OPERATIONS;
  const route = (
    operation: PassedOperation,
    schema: z.ZodType<PassedBody>,
    cache?: CacheOptions<PassedBody>,
  ): CallRoute => createPassedRoute(operation, schema, dependencies, cache);
  return [
    route(completions, completionsRequestSchema, CACHED),
    route(rerank, rerankRequestSchema, CACHED),
    route(moderations, z.preprocess(withModerationModel, moderationsRequestSchema), CACHED),
    route(images, imagesRequestSchema),
    route(speech, speechRequestSchema),
  ];
}

function createPassedRoute(
  operation: PassedOperation,
  schema: z.ZodType<PassedBody>,
  dependencies: PassedRouteDependencies,
  cache: CacheOptions<PassedBody> | undefined,
): CallRoute {
  const expected = expectedPassed(operation);
  return {
    method: 'POST',
    path: `/v1${operation.path}`,
    async handle(call) {
      const options = { expected, cache };
      const admitted = await dependencies.admission.admit(call, schema, options);
      if (admitted === undefined) return;
      const source = jsonSource(operation, admitted.body);
      await servePassed(call, { operation, admitted, source }, dependencies);
    },
  };
}

interface PassedExchange {
  readonly operation: PassedOperation;
  readonly admitted: AdmittedCall<PassedBody>;
  readonly source: PassedSource;
}

/** Serves a request that was admitted, and ends its reservation. */
export async function servePassed(
  http: HttpCall,
  { operation, admitted, source }: PassedExchange,
  dependencies: PassedRouteDependencies,
): Promise<void> {
  const { response, surface, startedAt, log } = http;
  const { body, caller, resolvedModel, fallbacks, reservation } = admitted;
  setLimitHeaders(response, http.headers);
  try {
    const { refId, signal } = http;
    const call: PassedCall = {
      caller,
      resolvedModel,
      fallbacks,
      startedAt,
      trace: log.trace,
      operation,
      surface,
      model: body.model,
      provider: body.provider ?? undefined,
      fields: body,
      source,
      refId,
      reservation,
      signal,
    };
    if (streamsText(call)) return await streamText(call, response, dependencies);
    const passed = await passCall(call, dependencies);
    const headers = routeHeaders(passed);
    await writePassed(response, passed, { headers, disconnected: signal });
  } finally {
    reservation.end();
  }
}

async function streamText(
  call: PassedCall,
  response: ServerResponse,
  dependencies: PassedRouteDependencies,
): Promise<void> {
  const options = {
    headers: [],
    disconnected: call.signal,
    silenceMs: dependencies.silenceMs,
    alive: () => KEEP_ALIVE,
    fail: errorEvent,
  };
  await sendEvents(response, options, async (sink) => {
    const onSign = (sign: Buffer): boolean => sink.pass(sign);
    const passed = await passCall({ ...call, onSign }, dependencies);
    sink.open(routeHeaders(passed));
    return (await passed.deliver((events) => sink.write(events))) ?? DONE;
  });
}

function withModerationModel(body: unknown): unknown {
  const isWithout =
    typeof body === 'object' &&
    body !== null &&
    (Reflect.get(body, 'model') ?? undefined) === undefined;
  return isWithout ? { ...body, model: MODERATION_MODEL } : body;
}
