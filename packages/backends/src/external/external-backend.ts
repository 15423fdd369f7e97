import { upstreamCompletionSchema, type UpstreamCompletion } from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import type { Backend, Capability, Probe } from '@model-gateway/router';
import { Pool } from 'undici';
import { z } from 'zod';
import { upstreamFailed, upstreamRefused } from '../upstream-error.ts';

interface ExternalOptions {
  readonly name: string;
  /** What `upstreamPrefix` made of the registered URL. */
  readonly prefix: URL;
  readonly apiKey: string | null;
  /** Ids that are served whether or not the upstream lists them. */
  readonly models: readonly string[];
  readonly timeouts: UpstreamTimeouts;
  readonly clock: Clock;
}

/** How long an upstream may take. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** No byte for this long is a failure. */
  readonly idleMs: number;
  /** A whole answer that is not streamed. */
  readonly totalMs: number;
}

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const CHAT_AND_EMBEDDINGS: ReadonlySet<Capability> = new Set(['chat', 'embeddings']);

const modelListing = z.union([
  z.object({ data: z.array(z.object({ id: z.string() })) }).transform(({ data }) => data),
  z.object({ models: z.array(z.object({ id: z.string() })) }).transform(({ models }) => models),
]);

/** Any HTTP API that follows the chat-completions convention. */
export function createExternalBackend(options: ExternalOptions): Backend {
  const { name, prefix, apiKey, clock } = options;
  const pool = new Pool(prefix.origin, {
    connect: { timeout: options.timeouts.connectMs },
    headersTimeout: options.timeouts.idleMs,
    bodyTimeout: options.timeouts.idleMs,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  const headers = {
    'content-type': 'application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  async function call(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: string) {
    const response = await pool
      .request({ method, path: `${prefix.pathname}${path}`, headers, signal, body: body ?? null })
      .catch((error: unknown) => {
        throw upstreamFailed(error);
      });
    return {
      status: response.statusCode,
      text: await readText(response.body, response.statusCode),
    };
  }

  return {
    name,
    kind: 'external',
    capabilities: () => CHAT_AND_EMBEDDINGS,
    async probe(signal) {
      const { status, text } = await call('GET', '/models', signal);
      return probeResult(status, text, options.models);
    },
    async chat(body, signal) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(options.timeouts.totalMs)]);
      const { status, text } = await call(
        'POST',
        '/chat/completions',
        bounded,
        JSON.stringify(body),
      );
      if (status < 200 || status > 299) throw upstreamRefused(status, text);
      return readCompletion(status, text, body.model, clock);
    },
    close: () => pool.destroy(),
  };
}

async function readText(body: AsyncIterable<Uint8Array>, status: number): Promise<string> {
  const limit = status >= 400 ? ERROR_BODY_BYTES_MAX : ANSWER_BYTES_MAX;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) break;
    }
  } catch (error) {
    throw upstreamFailed(error);
  }
  return Buffer.concat(chunks).subarray(0, limit).toString('utf8');
}

function probeResult(status: number, text: string, statics: readonly string[]): Probe {
  if (status === 404 && statics.length > 0) return { state: 'Healthy', models: statics };
  if (status < 200 || status > 299) {
    return { state: 'Degraded', models: statics, reason: `the models listing answered ${status}` };
  }
  const listing = modelListing.safeParse(parseJson(text));
  const discovered = listing.success ? listing.data.map(({ id }) => id) : [];
  const models = [...new Set([...statics, ...discovered])];
  if (models.length > 0) return { state: 'Healthy', models };
  return { state: 'Degraded', models, reason: 'it has no models to serve' };
}

function readCompletion(
  status: number,
  text: string,
  model: string,
  clock: Clock,
): UpstreamCompletion {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || 'error' in body)
    throw upstreamRefused(status, text);
  const completion = upstreamCompletionSchema.safeParse({
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: Math.floor(clock.now() / 1000),
    model,
    ...body,
  });
  if (!completion.success) {
    throw upstreamFailed('the upstream answered something that is not a chat completion');
  }
  return completion.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
