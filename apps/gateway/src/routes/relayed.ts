import { DONE, KEEP_ALIVE } from '@model-gateway/dialects';
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
  expectedRelayed,
  jsonSource,
  RELAYED_OPERATIONS,
  relayCall,
  runCall,
  streamsText,
  type CallServices,
  type RelayedCall,
  type RelayedFields,
  type RelayedOperation,
  type RunningCall,
} from '@model-gateway/inference';
import type { Clock, Log } from '@model-gateway/kernel';
import { z } from 'zod';
import type { CacheOptions } from '../cache/answer-cache.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { sendEvents } from '../openai/write-events.ts';
import { writeRelayed } from '../openai/write-relayed.ts';
import type { CallRoute, HttpCall } from '../surface/http-call.ts';
import type { HttpAdmission } from '../surface/http-admission.ts';

/** What a relayed call needs to be served. */
export interface RelayRouteDependencies extends CallServices {
  readonly admission: HttpAdmission;
  readonly clock: Clock;
  readonly log: Log;
  /** After this time without anything sent, a streaming client gets a sign of life; 0: never. */
  readonly silenceMs: number;
}

/** The body of a relayed request. */
export interface RelayedBody extends RelayedFields {
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly provider?: ProviderHint | null | undefined;
}

/** The model that official clients leave out, because it is the default of the API. */
const MODERATION_MODEL = 'omni-moderation-latest';

// Texts and numbers; images and audio would take much room. Memory is for chats.
const CACHED: CacheOptions<RelayedBody> = { state: () => ({ memory: false }) };

/** The routes whose JSON passes to upstreams without translation. */
export function createRelayRoutes(dependencies: RelayRouteDependencies): readonly CallRoute[] {
  const { completions, rerank, moderations, images, speech } = RELAYED_OPERATIONS;
  const route = (
    operation: RelayedOperation,
    schema: z.ZodType<RelayedBody>,
    cache?: CacheOptions<RelayedBody>,
  ): CallRoute => createRelayRoute(operation, schema, dependencies, cache);
  return [
    route(completions, completionsRequestSchema, CACHED),
    route(rerank, rerankRequestSchema, CACHED),
    route(moderations, z.preprocess(withModerationModel, moderationsRequestSchema), CACHED),
    route(images, imagesRequestSchema),
    route(speech, speechRequestSchema),
  ];
}

function createRelayRoute(
  operation: RelayedOperation,
  schema: z.ZodType<RelayedBody>,
  dependencies: RelayRouteDependencies,
  cache: CacheOptions<RelayedBody> | undefined,
): CallRoute {
  const expected = expectedRelayed(operation);
  return {
    method: 'POST',
    path: `/v1${operation.path}`,
    handle(call) {
      const admitting = dependencies.admission.admit(call, schema, { expected, cache });
      return runCall(call, admitting, dependencies, (running) => {
        const source = jsonSource(operation, running.body);
        return serveRelayed(call, running, { operation, source }, dependencies);
      });
    },
  };
}

/** Serves a request that was admitted. */
export async function serveRelayed(
  call: HttpCall,
  running: RunningCall<RelayedBody>,
  relayed: RelayedCall,
  dependencies: RelayRouteDependencies,
): Promise<void> {
  const { signal: disconnected, body: fields } = running;
  if (!streamsText({ operation: relayed.operation, fields })) {
    const answer = await relayCall(running, relayed, dependencies);
    const headers = [...call.headers, ...routeHeaders(answer)];
    return writeRelayed(call.answer, answer, { headers, disconnected });
  }
  const options = {
    headers: call.headers,
    disconnected,
    silenceMs: dependencies.silenceMs,
    alive: () => KEEP_ALIVE,
    fail: errorEvent,
  };
  return sendEvents(call.answer, options, async (sink) => {
    const onSign = (sign: Buffer): boolean => sink.pass(sign);
    const answer = await relayCall(running, { ...relayed, onSign }, dependencies);
    sink.open(routeHeaders(answer));
    return (await answer.deliver((events) => sink.write(events))) ?? DONE;
  });
}

function withModerationModel(body: unknown): unknown {
  const isWithout =
    typeof body === 'object' &&
    body !== null &&
    (Reflect.get(body, 'model') ?? undefined) === undefined;
  return isWithout ? { ...body, model: MODERATION_MODEL } : body;
}
