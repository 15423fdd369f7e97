import { ATTACHMENT_TOKENS } from './attachments.ts';
import type { ChatRequest } from './chat-request.ts';
import { demoJson } from './demo-json.ts';
import { demoReasoning } from './demo-reasoning.ts';
import { demoText } from './demo-text.ts';
import { countTokens, tokensOf } from './tokens.ts';
import { argumentPieces, piecesOf, toolCallsFor, type ToolCall } from './tool-calls.ts';

/** The model's answer to a request, independent of the wire format. */
export interface Answer {
  readonly promptTokens: number;
  /** What the model thinks before it answers, token by token; empty unless the request asks for it. */
  readonly reasoning: readonly string[];
  /** The text, token by token; a stream sends one chunk for each. */
  readonly tokens: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
}

/** Decides the text of an answer. */
export type AnswerText = (request: ChatRequest) => string;

/**
 * Answers a request: the same text for the same request, cut at its stop texts and at its token limit. Tool calls are never cut.
 * With `textOf` it is that text, whatever format the request asks for, and without reasoning.
 */
export function composeAnswer(request: ChatRequest, textOf?: AnswerText): Answer {
  const promptTokens = countPromptTokens(request);
  const toolCalls = toolCallsFor(request);
  const isReasoning = request.isReasoning && textOf === undefined;
  const thoughts = isReasoning ? tokensOf(demoReasoning(request, toolCalls)) : [];
  if (toolCalls.length > 0) {
    return { promptTokens, reasoning: thoughts, tokens: [], toolCalls, finishReason: 'tool_calls' };
  }
  const tokens = textTokens(request, textOf);
  const limit = request.maxTokens ?? Infinity;
  return {
    promptTokens,
    reasoning: thoughts.slice(0, limit),
    tokens: tokens.slice(0, Math.max(0, limit - thoughts.length)),
    toolCalls,
    finishReason: thoughts.length + tokens.length > limit ? 'length' : 'stop',
  };
}

function textTokens(request: ChatRequest, textOf: AnswerText | undefined): readonly string[] {
  if (textOf !== undefined) return tokensOf(untilStop(textOf(request), request.stop));
  if (request.json !== undefined) return piecesOf(demoJson(request, request.json.schema));
  return tokensOf(untilStop(demoText(request), request.stop));
}

/** A text up to the first of the stop texts. */
export function untilStop(text: string, stop: readonly string[]): string {
  const ends = stop.map((end) => text.indexOf(end)).filter((at) => at !== -1);
  return text.slice(0, Math.min(text.length, ...ends));
}

/** The tokens of an answer: those of its reasoning and text, and for each tool call one plus one per chunk of its arguments. */
export function countCompletionTokens({ reasoning, tokens, toolCalls }: Answer): number {
  const text = reasoning.length + tokens.length;
  return toolCalls.reduce((sum, call) => sum + 1 + argumentPieces(call).length, text);
}

function countPromptTokens({ messages }: ChatRequest): number {
  return messages.reduce(
    (sum, message) =>
      sum + countTokens(message.text) + message.attachments.length * ATTACHMENT_TOKENS,
    0,
  );
}
