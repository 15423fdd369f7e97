import type { Clock } from '@model-gateway/kernel';
import type { Backend, Capability, Probe } from '@model-gateway/router';
import { z } from 'zod';
import { ANSWER_BYTES_MAX } from '../transport/answers/answer-limits.ts';
import { begunStream } from '../transport/answers/begun-stream.ts';
import { isVector, readVectors } from '../transport/answers/read-vectors.ts';
import { RpcRefusal } from '../json-rpc/rpc-failures.ts';
import type { UpstreamTimeouts } from '../transport/upstream-http.ts';
import { engineChat, engineParts, engineCompletion } from './engine-chat.ts';
import { openEngineConnection, type EngineConnection } from './engine-connection.ts';
import {
  chatResultSchema,
  embeddingsSchema,
  modelsSchema,
  readResult,
  unreadable,
  type EngineHandshake,
} from './engine-frames.ts';
import { createEngineLink } from './engine-link.ts';

interface EngineBackendOptions {
  readonly name: string;
  readonly url: URL;
  readonly apiKey: string | null;
  /** Ids that are served in addition to those that the engine lists. */
  readonly models: readonly string[];
  readonly timeouts: UpstreamTimeouts;
  /** How large a whole answer may be. */
  readonly answerBytesMax?: number | undefined;
  readonly clock: Clock;
}

// The names under which engines declare what they can do. The protocol has no call for video jobs.
const DECLARED: Readonly<Record<string, Capability>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  embedding: 'embeddings',
  embed: 'embeddings',
  realtime: 'realtime',
  invoke: 'invoke',
};

const LIVE_MODALITIES: readonly string[] = ['audio', 'video'];

/** An engine that speaks the engine protocol over a WebSocket. */
export function createEngineBackend(options: EngineBackendOptions): Backend {
  const { name, url, apiKey, models, timeouts, clock } = options;
  const { answerBytesMax = ANSWER_BYTES_MAX } = options;
  let capabilities: ReadonlySet<Capability> = new Set();
  const link = createEngineLink(async (onUnusable) => {
    const connection = await openEngineConnection({
      url: url.href,
      apiKey,
      timeouts,
      answerBytesMax,
      onUnusable,
    });
    capabilities = declaredBy(connection.handshake);
    return connection;
  });

  async function call<Schema extends z.ZodType>(
    method: string,
    params: object,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> {
    const connection = await link.connected(signal);
    return connection.call(method, params, { signal, read: readResult(method, schema) });
  }

  return {
    name,
    kind: 'engine',
    capabilities: () => capabilities,
    async probe(signal) {
      try {
        const { models: listed } = await call('Engine.Models', {}, modelsSchema, signal);
        return probeResult([...new Set([...listed, ...models])]);
      } catch (error) {
        return answeredBadly(error, models);
      }
    },
    async chat({ chat, lost: ignored }, signal) {
      const result = await call('Engine.Chat', engineChat(chat), chatResultSchema, signal);
      return { completion: engineCompletion(result, { model: chat.model, clock }), ignored };
    },
    async chatStream({ chat, lost: ignored }, signal) {
      const connection: EngineConnection = await link.connected(signal);
      const frames = await connection.stream(engineChat(chat), signal);
      const parts = engineParts(frames, { model: chat.model, clock, secret: apiKey });
      return { form: 'parts', parts: await begunStream(parts), ignored };
    },
    async embed(request, signal) {
      const params = { ...request, encoding_format: undefined };
      const { data, usage } = await call('Engine.Embeddings', params, embeddingsSchema, signal);
      const vectors = await readVectors(data, (one) => (isVector(one) ? one : undefined));
      if (vectors === undefined) throw unreadable('Engine.Embeddings');
      return { model: request.model, vectors, promptTokens: usage?.prompt_tokens };
    },
    invoke: (model, method, params, signal) =>
      call('Engine.Invoke', { model, method, params }, z.unknown(), signal).catch(methodRefused),
    async openRealtime(opening, signal) {
      const connection = await link.connected(signal);
      return connection.openRealtime(opening, signal);
    },
    close: () => link.close(),
  };
}

/** An error response of a method does not mean that the engine is unhealthy. */
function methodRefused(error: unknown): never {
  if (!(error instanceof RpcRefusal)) throw error;
  throw new RpcRefusal(error.message, { isBackendAtFault: false, cause: error });
}

function declaredBy({ capabilities, modalities }: EngineHandshake): ReadonlySet<Capability> {
  const declared = capabilities.flatMap((name) => {
    const known = Object.hasOwn(DECLARED, name) ? DECLARED[name] : undefined;
    return known === undefined ? [] : [known];
  });
  // An engine with audio or video input supports realtime, even if it does not list it.
  const isLive = modalities.some((modality) => LIVE_MODALITIES.includes(modality));
  return new Set(isLive ? [...declared, 'realtime'] : declared);
}

function probeResult(models: readonly string[]): Probe {
  if (models.length > 0) return { state: 'Healthy', models };
  return { state: 'Degraded', models, reason: 'it has no models to serve' };
}

/** An engine that responds with an error is degraded; one that does not respond is unhealthy. */
function answeredBadly(error: unknown, models: readonly string[]): Probe {
  if (!(error instanceof RpcRefusal)) throw error;
  return { state: 'Degraded', models, reason: error.message };
}
