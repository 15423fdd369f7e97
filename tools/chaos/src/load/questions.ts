import { newId } from '@model-gateway/kernel';
import { pick, upTo, type Random } from '@model-gateway/testkit';
import { NODE_MODEL } from '../deployment/gpu-node.ts';
import { VIDEO_MODEL, type Deployment } from '../deployment/deployment.ts';
import type { Payer } from '../deployment/accounts.ts';
import { CHAT_MODEL, EMBEDDING_MODEL, promptOf } from '../deployment/scripted-upstream.ts';
import { ask, partsOf } from './ask.ts';
import type { Call, LoadKind, Outcome } from './outcome.ts';

/** What a client needs for one request. */
export interface Turn {
  readonly deployment: Deployment;
  readonly payer: Payer;
  readonly random: Random;
  readonly ref: string;
  /** Gets every call that is made. */
  readonly calls: Call[];
}

const PROMPT_TOKENS_MAX = 40;
const ANSWER_TOKENS_MAX = 24;
const POINTS_MAX = 5_000;

/** How to do each kind once. */
export const questions: Readonly<Record<LoadKind, (turn: Turn) => Promise<Outcome>>> = {
  chat: (turn) => timed(turn, 'chat', () => askChat(turn, CHAT_MODEL)),
  stream: (turn) => timed(turn, 'stream', () => askStream(turn, CHAT_MODEL)),
  'node-chat': (turn) => timed(turn, 'node-chat', () => askChat(turn, NODE_MODEL)),
  'node-stream': (turn) => timed(turn, 'node-stream', () => askStream(turn, NODE_MODEL)),
  embeddings: (turn) => timed(turn, 'embeddings', () => askEmbeddings(turn)),
  'rpc-chat': (turn) => timed(turn, 'rpc-chat', () => askRpcChat(turn)),
  'rpc-call': askRpcCall,
  async points(turn) {
    const { deployment, payer, random } = turn;
    const points = upTo(random, POINTS_MAX);
    try {
      await timed(turn, 'group.credits.topup', () => deployment.accounts.topUp(payer, points * 2));
      await timed(turn, 'group.credits.allocate', () =>
        deployment.accounts.allocate(payer, points),
      );
      return { name: 'complete' };
    } catch (error) {
      return { name: 'refused', detail: error instanceof Error ? error.message.slice(0, 60) : '' };
    }
  },
  video: (turn) => timed(turn, 'video', () => askVideo(turn)),
};

async function timed<Result>(
  { calls }: Turn,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    calls.push({ name, ms: performance.now() - startedAt });
  }
}

async function askEmbeddings({ deployment, payer, random, ref }: Turn): Promise<Outcome> {
  const { outcome, text } = await ask({
    url: `${deployment.gatewayUrl}/v1/embeddings`,
    bearer: payer.key,
    headers: { 'x-service-ref': ref },
    body: { model: EMBEDDING_MODEL, input: promptOf(ref, upTo(random, PROMPT_TOKENS_MAX)) },
  });
  return withTokens(outcome, text);
}

async function askVideo({ deployment, payer, ref }: Turn): Promise<Outcome> {
  const { outcome, text } = await ask({
    url: `${deployment.gatewayUrl}/v1/video/generations`,
    bearer: payer.key,
    headers: { 'idempotency-key': ref },
    body: { model: VIDEO_MODEL, prompt: `a cat, ref=${ref}` },
  });
  if (outcome.name !== 'complete') return outcome;
  return { ...outcome, jobId: (JSON.parse(text) as { id: string }).id };
}

const bodyOf = (model: string, { random, ref }: Turn) => ({
  model,
  messages: [{ role: 'user', content: promptOf(ref, upTo(random, PROMPT_TOKENS_MAX)) }],
  max_tokens: upTo(random, ANSWER_TOKENS_MAX),
});

async function askChat(turn: Turn, model: string): Promise<Outcome> {
  const { deployment, payer, ref } = turn;
  const { outcome, text } = await ask({
    url: `${deployment.gatewayUrl}/v1/chat/completions`,
    bearer: payer.key,
    headers: { 'x-service-ref': ref },
    body: bodyOf(model, turn),
  });
  return withTokens(outcome, text);
}

async function askStream(turn: Turn, model: string): Promise<Outcome> {
  const { deployment, payer, ref } = turn;
  const { outcome, text } = await ask({
    url: `${deployment.gatewayUrl}/v1/chat/completions`,
    bearer: payer.key,
    headers: { 'x-service-ref': ref },
    body: { ...bodyOf(model, turn), stream: true, stream_options: { include_usage: true } },
  });
  if (outcome.name !== 'complete') return outcome;
  const isWhole = text.endsWith('data: [DONE]\n\n');
  return isWhole ? withTokens(outcome, text) : { name: 'cut', detail: 'no end mark' };
}

/** A turn over the management plane: the tokens arrive on an event stream, possibly of another process. */
async function askRpcChat(turn: Turn): Promise<Outcome> {
  const { deployment, payer, ref } = turn;
  const sent = await callRpc(turn, 'chat.send', { ...bodyOf(CHAT_MODEL, turn), ref_id: ref });
  if (sent.outcome.name !== 'complete') return sent.outcome;
  const { stream_id } = sent.result as { stream_id: string };
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), RPC_STREAM_MS_MAX);
  let text = '';
  try {
    const response = await fetch(
      `${deployment.rpcUrl}/api/rpc/events?session=${encodeURIComponent(stream_id)}`,
      {
        headers: { authorization: `Bearer ${payer.token}` },
        signal: leaving.signal,
      },
    );
    for await (const part of partsOf(response)) {
      text += part;
      if (!/"is_complete":\s*true[^\n]*\n/.test(text)) continue;
      const isError = /"error":\s*\{/.test(text);
      return isError
        ? { name: 'cut', detail: 'error in the stream' }
        : withTokens(sent.outcome, text);
    }
    return { name: 'cut', detail: 'the event stream ended' };
  } catch {
    return { name: 'cut', detail: 'no end on the event stream' };
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

/** Notifications of a killed process never arrive; a client gives up. */
const RPC_STREAM_MS_MAX = 20_000;

async function askRpcCall(turn: Turn): Promise<Outcome> {
  const method = pick(turn.random, ['conversations', 'keys', 'ledger.self', 'billing.plan']);
  if (method === 'conversations') {
    const made = await callRpc(turn, 'conversations.create', {});
    if (made.outcome.name !== 'complete') return made.outcome;
    const { id } = made.result as { id: string };
    const read = await callRpc(turn, 'conversations.get', { id });
    if (read.outcome.name !== 'complete') return read.outcome;
    return (await callRpc(turn, 'conversations.delete', { id })).outcome;
  }
  if (method === 'keys') {
    const made = await callRpc(turn, 'keys.create', { name: `chaos ${newId()}` });
    if (made.outcome.name !== 'complete') return made.outcome;
    const { id } = made.result as { id: string };
    return (await callRpc(turn, 'keys.revoke', { key_id: id })).outcome;
  }
  return (await callRpc(turn, method, {})).outcome;
}

async function callRpc(
  turn: Turn,
  method: string,
  params: object,
): Promise<{ readonly outcome: Outcome; readonly result?: unknown }> {
  const { outcome, text } = await timed(turn, method, () =>
    ask({
      url: `${turn.deployment.rpcUrl}/api/rpc`,
      bearer: turn.payer.token,
      body: { jsonrpc: '2.0', id: 1, method, params },
    }),
  );
  if (outcome.name !== 'complete') return { outcome };
  const { result, error } = JSON.parse(text) as {
    result?: unknown;
    error?: { code: number; message: string };
  };
  if (error === undefined) return { outcome, result };
  return {
    outcome: { name: 'refused', detail: `${method} ${error.code} ${error.message.slice(0, 60)}` },
  };
}

function withTokens(outcome: Outcome, text: string): Outcome {
  const prompt = lastNumber(text, 'prompt_tokens');
  if (outcome.name !== 'complete' || prompt === undefined) return outcome;
  return { ...outcome, tokens: { prompt, completion: lastNumber(text, 'completion_tokens') ?? 0 } };
}

function lastNumber(text: string, field: string): number | undefined {
  const found = [...text.matchAll(new RegExp(`"${field}":\\s*(\\d+)`, 'g'))].at(-1);
  return found === undefined ? undefined : Number(found[1]);
}
