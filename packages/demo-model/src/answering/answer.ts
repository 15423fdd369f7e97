import type { ChatRequest } from './chat-request.ts';
import { demoText } from './demo-text.ts';
import { countTokens, tokensOf } from './tokens.ts';
import { argumentPieces, toolCallsFor, type ToolCall } from './tool-calls.ts';

/** The model's answer to a request, independent of the wire format. */
export interface Answer {
  readonly promptTokens: number;
  /** The text, token by token; a stream sends one chunk for each. */
  readonly tokens: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
}

/** Decides the text of an answer. */
export type AnswerText = (request: ChatRequest) => string;

/** The tokens of an image. */
const IMAGE_TOKENS = 85;

/** Answers a request: the same text for the same request, cut at its token limit. Tool calls are never cut. */
export function composeAnswer(request: ChatRequest, textOf: AnswerText = demoText): Answer {
  const promptTokens = countPromptTokens(request);
  const toolCalls = toolCallsFor(request);
  if (toolCalls.length > 0) {
    return { promptTokens, tokens: [], toolCalls, finishReason: 'tool_calls' };
  }
  const tokens = tokensOf(textOf(request));
  const limit = request.maxTokens;
  if (limit === undefined || tokens.length <= limit) {
    return { promptTokens, tokens, toolCalls, finishReason: 'stop' };
  }
  return { promptTokens, tokens: tokens.slice(0, limit), toolCalls, finishReason: 'length' };
}

/** The tokens of an answer: those of its text, and for each tool call one plus one per chunk of its arguments. */
export function countCompletionTokens({ tokens, toolCalls }: Answer): number {
  return toolCalls.reduce((sum, call) => sum + 1 + argumentPieces(call).length, tokens.length);
}

function countPromptTokens({ messages }: ChatRequest): number {
  return messages.reduce(
    (sum, message) => sum + countTokens(message.text) + message.images * IMAGE_TOKENS,
    0,
  );
}
