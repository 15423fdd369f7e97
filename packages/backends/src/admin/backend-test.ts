import {
  explainedReason,
  type backendTestSchema,
  type UpstreamCompletion,
} from '@model-gateway/contracts';
import { chatTurn, completionOf } from '@model-gateway/dialects';
import { describeError } from '@model-gateway/kernel';
import {
  outcomeOf,
  UpstreamFailure,
  type Backend,
  type BackendConfig,
  type HealthReport,
  type Router,
} from '@model-gateway/router';
import type { z } from 'zod';
import { boundedCall } from '../transport/bounded-call.ts';
import { healthView } from './backend-view.ts';

type BackendTest = z.input<typeof backendTestSchema>;
type ChatTest = BackendTest['chat'];

interface BackendTestOptions {
  readonly name: string;
  /** The model to chat with; otherwise one is chosen. */
  readonly model: string | undefined;
  readonly cancel: AbortSignal;
}

const CHAT_TIMEOUT_MS = 30_000;
const CHAT_TOKENS_MAX = 16;
const TEXT_CHARS_MAX = 200;
/** Parts of the ids of models that do something else. A wrong guess only needs a `model` in the request. */
const NO_CHAT_MODEL =
  /embed|rerank|moderation|whisper|transcribe|tts|dall-e|image|audio|realtime|sora|video/i;

/** Probes a backend and sends it a short chat, which its operator pays for. Undefined if it was removed meanwhile. */
export async function testBackend(
  router: Pick<Router, 'list' | 'probe' | 'use'>,
  { name, model, cancel }: BackendTestOptions,
): Promise<BackendTest | undefined> {
  const begunAt = performance.now();
  await router.probe(name);
  const probeMs = millisecondsSince(begunAt);
  const routed = router.list().find(({ backend }) => backend.name === name);
  const used = router.use(name);
  if (routed === undefined || used === undefined) return undefined;
  try {
    return await testProbed(used.backend, { health: routed, probeMs, model, cancel });
  } finally {
    used.release();
  }
}

/** The same for a backend that is not registered. */
export async function testNewBackend(
  registry: Pick<Router['registry'], 'tryOut'>,
  config: BackendConfig,
  { model, cancel }: Omit<BackendTestOptions, 'name'>,
): Promise<BackendTest> {
  const begunAt = performance.now();
  const { backend, report } = await registry.tryOut(config);
  const probeMs = millisecondsSince(begunAt);
  try {
    return await testProbed(backend, { health: report, probeMs, model, cancel });
  } finally {
    await backend.close();
  }
}

interface Probed {
  readonly health: Pick<HealthReport, 'state' | 'reason' | 'checkedAt' | 'models'>;
  readonly probeMs: number;
  readonly model: string | undefined;
  readonly cancel: AbortSignal;
}

async function testProbed(
  backend: Backend,
  { health, probeMs, model, cancel }: Probed,
): Promise<BackendTest> {
  const { state, models } = health;
  const chat =
    state === 'Unhealthy'
      ? skipped('the backend did not answer the probe')
      : await tryChat(backend, model ?? chatModel(models), cancel);
  return {
    status: state === 'Healthy' && chat.status !== 'failed' ? 'ok' : 'failed',
    name: backend.name,
    type: backend.kind,
    probe: { ...healthView(health), latency_ms: probeMs },
    chat,
  };
}

async function tryChat(
  backend: Backend,
  model: string | undefined,
  cancel: AbortSignal,
): Promise<ChatTest> {
  if (backend.chat === undefined || !backend.capabilities().has('chat')) {
    return skipped('the backend does not support chat');
  }
  if (model === undefined) return skipped('the backend has no models to serve');
  const begunAt = performance.now();
  const result = { model, latency_ms: 0, reason: null, text: null };
  try {
    const completion = await boundedCall(CHAT_TIMEOUT_MS, cancel, (bounded) =>
      withAnyKey(backend, (one) => shortChat(one, model, bounded)),
    );
    const text = beginningOf(completion);
    return { ...result, status: 'ok', latency_ms: millisecondsSince(begunAt), text };
  } catch (error) {
    const reason = explainedReason('Healthy', describeError(error));
    return { ...result, status: 'failed', latency_ms: millisecondsSince(begunAt), reason };
  }
}

/** A backend works if one of its keys does. Otherwise the last refusal says why not. */
async function withAnyKey<Answer>(
  backend: Backend,
  ask: (one: Backend) => Promise<Answer>,
): Promise<Answer> {
  const { keys: [...others] = [] } = backend;
  for (let one = others.shift() ?? backend; ;) {
    try {
      return await ask(one);
    } catch (failure) {
      const next = typeof outcomeOf(failure) === 'object' ? others.shift() : undefined;
      if (next === undefined) throw failure;
      one = next;
    }
  }
}

/** Newer models of some clouds refuse `max_tokens` and name the field that replaces it. */
async function shortChat(
  backend: Backend,
  model: string,
  cancel: AbortSignal,
): Promise<UpstreamCompletion> {
  const messages = [{ role: 'user', content: 'Reply with the word OK.' }];
  const send = (limit: Readonly<Record<string, number>>) =>
    backend.chat?.(chatTurn({ model, messages, ...limit }), cancel);
  const answer = await send({ max_tokens: CHAT_TOKENS_MAX })?.catch((error: unknown) => {
    if (!(error instanceof UpstreamFailure) || error.status !== 400) throw error;
    if (!error.message.includes('max_completion_tokens')) throw error;
    return send({ max_completion_tokens: CHAT_TOKENS_MAX });
  });
  if (answer === undefined) throw new Error('the backend does not support chat');
  return 'completion' in answer ? answer.completion : completionOf(answer.answer);
}

const skipped = (reason: string): ChatTest => ({
  status: 'skipped',
  reason,
  model: null,
  latency_ms: null,
  text: null,
});

const chatModel = (models: readonly string[]): string | undefined =>
  models.find((id) => !NO_CHAT_MODEL.test(id)) ?? models[0];

/** The beginning of the text, or of the reasoning if the limit was reached before the text. */
function beginningOf({ choices }: UpstreamCompletion): string {
  const message = choices[0]?.message;
  const parts = [message?.['content'], message?.['reasoning_content']];
  const text = parts.find((part) => typeof part === 'string' && part !== '');
  // A character has at most two units.
  const units = typeof text === 'string' ? text.slice(0, 2 * TEXT_CHARS_MAX) : '';
  return Array.from(units).slice(0, TEXT_CHARS_MAX).join('');
}

const millisecondsSince = (begunAt: number): number => Math.round(performance.now() - begunAt);
