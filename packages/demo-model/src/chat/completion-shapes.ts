import { countCompletionTokens, type Answer } from '../answering/answer.ts';
import { argumentPieces, type ToolCall } from '../answering/tool-calls.ts';
import { sse } from '../wire/sse.ts';
import type { Chunk } from '../operations/operation.ts';

/** The fields that are the same in every chunk and body of one answer. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface ChunkOptions {
  readonly choices: number;
  readonly usage: boolean;
  readonly done: boolean;
}

const FINGERPRINT = 'fp_demo';

/** Token counts in the format of the chat-completions API. */
function usageOf(answer: Answer, choices: number) {
  const completionTokens = countCompletionTokens(answer) * choices;
  return {
    prompt_tokens: answer.promptTokens,
    completion_tokens: completionTokens,
    total_tokens: answer.promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoning.length * choices,
      audio_tokens: 0,
    },
  };
}

/** The body of an answer that is not streamed; every choice has the same message. */
export function completionBody(
  head: CompletionHead,
  answer: Answer,
  { choices, usage: withUsage }: Omit<ChunkOptions, 'done'>,
) {
  const calls = answer.toolCalls.map((call) => wireCall(call, call.arguments));
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : answer.tokens.join(''),
    refusal: null,
    ...(answer.reasoning.length > 0 ? { reasoning_content: answer.reasoning.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: Array.from({ length: choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: answer.finishReason,
    })),
    ...(withUsage ? { usage: usageOf(answer, choices) } : {}),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  };
}

/** The chunks of a streamed answer: those of each choice, and the usage if requested. */
export function* completionChunks(
  head: CompletionHead,
  answer: Answer,
  { choices, usage, done }: ChunkOptions,
): Generator<Chunk> {
  const base = {
    id: head.id,
    object: 'chat.completion.chunk',
    created: head.created,
    model: head.model,
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  };
  // A stream with usage has `usage: null` in its earlier chunks.
  const pending = usage ? { usage: null } : {};
  for (let index = 0; index < choices; index += 1) {
    for (const { delta, tokens, finishReason = null } of deltasOf(answer)) {
      const choice = { index, delta, logprobs: null, finish_reason: finishReason };
      yield { text: sse({ ...base, choices: [choice], ...pending }), tokens };
    }
  }
  if (usage) {
    yield { text: sse({ ...base, choices: [], usage: usageOf(answer, choices) }), tokens: 0 };
  }
  if (done) yield { text: 'data: [DONE]\n\n', tokens: 0 };
}

interface Delta {
  readonly delta: unknown;
  readonly tokens: number;
  readonly finishReason?: string;
}

/** The deltas of one choice: the role, one per token, and the finish reason. */
function* deltasOf(answer: Answer): Generator<Delta> {
  const content = answer.toolCalls.length > 0 ? null : '';
  yield { delta: { role: 'assistant', content, refusal: null }, tokens: 0 };
  for (const token of answer.reasoning) yield { delta: { reasoning_content: token }, tokens: 1 };
  for (const token of answer.tokens) yield { delta: { content: token }, tokens: 1 };
  for (const [index, call] of answer.toolCalls.entries()) {
    yield { delta: { tool_calls: [{ index, ...wireCall(call, '') }] }, tokens: 1 };
    for (const piece of argumentPieces(call)) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] }, tokens: 1 };
    }
  }
  yield { delta: {}, tokens: 0, finishReason: answer.finishReason };
}

/** An error in the format of the chat-completions API. */
export function chatError(message: string, type: string, code: string | null = null) {
  return { error: { message, type, param: null, code } };
}

function wireCall(call: ToolCall, text: string) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: text } };
}
