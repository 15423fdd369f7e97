import { estimateTokens } from '@model-gateway/billing';
import type { ChatRequest, TokenUsage, UpstreamCompletion } from '@model-gateway/contracts';

/** The usage of a turn whose upstream reported none, from the texts that went in and out. */
export function estimateUsage(
  messages: ChatRequest['messages'],
  completion: UpstreamCompletion,
): TokenUsage {
  const prompt_tokens = sum(messages.map((message) => estimateTokens(textOf(message.content))));
  const completion_tokens = sum(
    completion.choices.map((choice) => estimateTokens(textOf(choice.message['content']))),
  );
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
