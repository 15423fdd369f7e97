import type { UpstreamCompletion } from '@model-gateway/contracts';

/**
 * Whether an answer has everything that a completion must have, usage included, so that it can be passed on as it was
 * written. By hand, because every answer comes by here; one that is found wanting is read by the schema.
 */
export function isWholeCompletion(body: unknown): body is UpstreamCompletion {
  if (!isObject(body)) return false;
  const { id, object, created, model, choices, usage } = body;
  return (
    typeof id === 'string' &&
    object === 'chat.completion' &&
    Number.isSafeInteger(created) &&
    typeof model === 'string' &&
    Array.isArray(choices) &&
    choices.every(isWholeChoice) &&
    isUsage(usage)
  );
}

function isWholeChoice(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  const { index, message, finish_reason } = choice;
  return (
    Number.isSafeInteger(index) &&
    isObject(message) &&
    typeof message['role'] === 'string' &&
    (finish_reason === null || typeof finish_reason === 'string')
  );
}

function isUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  return isCount(prompt_tokens) && isCount(completion_tokens) && isCount(total_tokens);
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
