import { countCompletionTokens, type Answer } from '../answering/answer.ts';
import { argumentPieces, type ToolCall } from '../answering/tool-calls.ts';
import type { Chunk } from '../wire/stream-writer.ts';

/** The fields that are the same in every chunk and body of one answer. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface ChunkOptions {
  readonly usage: boolean;
  readonly done: boolean;
}

const FINGERPRINT = 'fp_demo';

/** Token counts in the format of the chat-completions API. */
function usageOf(answer: Answer) {
  const completionTokens = countCompletionTokens(answer);
  return {
    prompt_tokens: answer.promptTokens,
    completion_tokens: completionTokens,
    total_tokens: answer.promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

/** The body of an answer that is not streamed. */
export function completionBody(head: CompletionHead, answer: Answer, withUsage: boolean) {
  const calls = answer.toolCalls.map((call) => wireCall(call, call.arguments));
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : answer.tokens.join(''),
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason }],
    ...(withUsage ? { usage: usageOf(answer) } : {}),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  };
}

/** The chunks of a streamed answer: the role, one per token, the finish reason, and the usage if requested. */
export function* completionChunks(
  head: CompletionHead,
  answer: Answer,
  { usage, done }: ChunkOptions,
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
  const chunk = (delta: unknown, tokens: number, finishReason: string | null = null): Chunk => {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return { text: sse({ ...base, choices: [choice], ...pending }), tokens };
  };

  const content = answer.toolCalls.length > 0 ? null : '';
  yield chunk({ role: 'assistant', content, refusal: null }, 0);
  for (const token of answer.tokens) yield chunk({ content: token }, 1);
  for (const [index, call] of answer.toolCalls.entries()) {
    yield chunk({ tool_calls: [{ index, ...wireCall(call, '') }] }, 1);
    for (const piece of argumentPieces(call)) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] }, 1);
    }
  }
  yield chunk({}, 0, answer.finishReason);
  if (usage) yield { text: sse({ ...base, choices: [], usage: usageOf(answer) }), tokens: 0 };
  if (done) yield { text: 'data: [DONE]\n\n', tokens: 0 };
}

/** An error in the format of the chat-completions API. */
export function chatError(message: string, type: string, code: string | null = null) {
  return { error: { message, type, param: null, code } };
}

/** One server-sent event. */
export const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function wireCall(call: ToolCall, text: string) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: text } };
}
