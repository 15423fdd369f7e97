import { estimateTokens } from '@model-gateway/billing';
import type { ChatRequest, TokenUsage, UpstreamCompletion } from '@model-gateway/contracts';
import { textOfCalls, toolCallsOf } from '../stream/chunk-fields.ts';

/** Estimates the usage of a turn from its texts, if the upstream reported none. */
export function estimateUsage(messages: ChatRequest['messages'], answer: string): TokenUsage {
  const prompt_tokens = messages.reduce(
    (sum, message) => sum + estimateTokens(textOf(message.content)),
    0,
  );
  const completion_tokens = estimateTokens(answer);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The whole text of a completion. */
export function textOfCompletion({ choices }: UpstreamCompletion): string {
  return choices
    .map(({ message }) => textOf(message['content']) + textOfCalls(toolCallsOf(message)))
    .join('');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => textOfPart(part)).join('');
}

function textOfPart(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '';
  const text: unknown = Reflect.get(part, 'text');
  return typeof text === 'string' ? text : '';
}
