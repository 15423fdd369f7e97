import type { UpstreamCompletion } from '@model-gateway/contracts';
import { isWholeCall } from '@model-gateway/dialects';
import { numberOf } from '@model-gateway/kernel';

/**
 * Whether a response has every required field, including usage, so that it can be passed on unchanged. Without a schema,
 * because this runs for every response; an incomplete one is read by the schema.
 */
export function isWholeCompletion(body: unknown): body is UpstreamCompletion {
  if (!isObject(body)) return false;
  const { id, object, created, model, choices, usage } = body;
  return (
    typeof id === 'string' &&
    object === 'chat.completion' &&
    isWhole(created) &&
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
    isWhole(index) &&
    isObject(message) &&
    typeof message['role'] === 'string' &&
    hasWholeCalls(message) &&
    (finish_reason === null || typeof finish_reason === 'string')
  );
}

const hasWholeCalls = ({ tool_calls: calls }: Readonly<Record<string, unknown>>): boolean =>
  calls === undefined || calls === null || (Array.isArray(calls) && calls.every(isWholeCall));

function isUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  return isCount(prompt_tokens) && isCount(completion_tokens) && isCount(total_tokens);
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(numberOf(value));
const isCount = (value: unknown): boolean => isWhole(value) && Number(value) >= 0;

/** Whether a value is an object and no list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
