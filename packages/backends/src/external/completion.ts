import {
  readUsage,
  upstreamCompletionSchema,
  type UpstreamCompletion,
} from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import type { ChatChunk, UpstreamAnswer } from '@model-gateway/router';
import { readJson } from '../read-text.ts';
import { upstreamFailed, upstreamRefused } from '../upstream-error.ts';
import { isWholeCompletion } from './whole-completion.ts';

/** A whole answer of the convention, with what some upstreams leave out. An error in place of an answer is a failure. */
export function readCompletion(
  status: number,
  text: string,
  model: string,
  clock: Clock,
): UpstreamAnswer {
  const body = readJson(text);
  if (isErrorBody(body)) throw upstreamRefused(status, text);
  if (isWholeCompletion(body)) return { completion: body, text };
  if (typeof body !== 'object' || body === null) throw notACompletion();
  const completion = upstreamCompletionSchema.safeParse({
    id: `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: Math.floor(clock.now() / 1000),
    model,
    ...body,
    ...withCompleteChoices(body),
    ...withReadableUsage(body),
  });
  if (!completion.success) throw notACompletion();
  return { completion: completion.data };
}

/** Some upstreams leave out what goes without saying. */
function withCompleteChoices(body: object): { readonly choices?: unknown } {
  if (!('choices' in body) || !Array.isArray(body.choices)) return {};
  const choices = body.choices.map((choice: unknown, index) => {
    if (typeof choice !== 'object' || choice === null) return choice;
    const message: unknown = 'message' in choice ? choice.message : undefined;
    if (typeof message !== 'object' || message === null) return choice;
    return { index, finish_reason: null, ...choice, message: { role: 'assistant', ...message } };
  });
  return { choices };
}

/** What cannot be read as usage is as good as none: the answer itself is good. */
function withReadableUsage(body: object): { readonly usage?: unknown } {
  if (!('usage' in body)) return {};
  const usage = readUsage(body.usage);
  return { usage: usage === undefined ? null : { ...Object(body.usage), ...usage } };
}

/** A whole answer of an upstream that was asked to stream and did not. */
export async function* chunksOf({
  usage,
  choices,
  ...head
}: UpstreamCompletion): AsyncGenerator<ChatChunk> {
  const chunk = { ...head, object: 'chat.completion.chunk' };
  yield {
    ...chunk,
    choices: choices.map(({ index, message, finish_reason }) => ({
      index,
      delta: message,
      finish_reason,
    })),
  };
  if (usage !== undefined && usage !== null) yield { ...chunk, choices: [], usage };
}

/** Whether an answer says that something went wrong, whatever its status. */
export function isErrorBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return 'error' in body && body.error !== null && body.error !== undefined;
}

function notACompletion() {
  return upstreamFailed('the upstream answered something that is not a chat completion');
}
