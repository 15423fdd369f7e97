import {
  keepWritten,
  readUsage,
  upstreamCompletionSchema,
  type AnswerPart,
  type UpstreamCompletion,
} from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import type { UpstreamAnswer } from '@model-gateway/router';
import { z } from 'zod';
import { chatParts, failureIn, wholeCall } from '@model-gateway/dialects';
import type { AnswerContext } from '../answer-head.ts';
import { readExactJson } from '../transport/answers/read-text.ts';
import type { WholeResponse } from '../transport/upstream-http.ts';
import {
  brokenOff,
  cleanMessage,
  unreadableAnswer,
  upstreamRefused,
} from '../errors/upstream-error.ts';
import { isObject, isWholeCompletion } from './whole-completion.ts';

// A field of another type counts as absent.
const { shape } = upstreamCompletionSchema;
const envelopeSchema = z.object({
  id: shape.id.optional().catch(undefined),
  created: shape.created.optional().catch(undefined),
  model: shape.model.optional().catch(undefined),
});
interface CompletionContext extends AnswerContext {
  /** The backend's key, which must not appear in messages. */
  readonly secret: string | null;
}
const choiceSchema = z.object({
  index: keepWritten(z.int()).optional().catch(undefined),
  finish_reason: z.string().nullable().catch(null),
});
const roleSchema = z.object({ role: z.string().catch('assistant') });

const CHOICES_MAX = 1_024;

type CompletionAnswer = Extract<UpstreamAnswer, { completion: unknown }>;

/** A whole response of the convention, with fields that some upstreams omit. An error instead of a response is a failure. */
export function readCompletion(
  { status, text }: WholeResponse,
  { model, clock, secret }: CompletionContext,
): CompletionAnswer {
  const body = readExactJson(text);
  if (isErrorBody(body)) throw upstreamRefused(status, text, secret);
  const failure = failureIn(body);
  if (failure !== undefined) throw brokenOff(cleanMessage(failure, secret));
  if (isWholeCompletion(body)) return { completion: body, text };
  if (!isObject(body) || hasTooManyChoices(body)) throw notACompletion();
  const completion = upstreamCompletionSchema.safeParse({
    ...body,
    ...envelopeOf(body, model, clock),
    ...withCompleteChoices(body),
    ...withReadableUsage(body),
  });
  if (!completion.success) throw notACompletion();
  return { completion: completion.data };
}

/** Counted before they are read: millions of broken ones would take minutes and all memory. */
const hasTooManyChoices = ({ choices }: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(choices) && choices.length > CHOICES_MAX;

function envelopeOf(body: object, model: string, clock: Clock) {
  const { id, created, model: reported } = envelopeSchema.parse(body);
  return {
    id: id ?? `chatcmpl-${newId()}`,
    object: 'chat.completion',
    created: created ?? Math.floor(clock.now() / 1000),
    model: reported ?? model,
  };
}

/** Some upstreams omit obvious fields. */
function withCompleteChoices(body: object): { readonly choices?: unknown } {
  if (!('choices' in body) || !Array.isArray(body.choices)) return {};
  const choices = body.choices.map((choice: unknown, index) => {
    if (!isObject(choice)) return choice;
    const { message } = choice;
    if (!isObject(message)) return choice;
    const read = choiceSchema.parse(choice);
    return {
      ...choice,
      index: read.index ?? index,
      finish_reason: read.finish_reason,
      message: { ...message, ...roleSchema.parse(message), ...wholeCalls(message) },
    };
  });
  return { choices };
}

function wholeCalls({ tool_calls: calls }: Readonly<Record<string, unknown>>) {
  return Array.isArray(calls) ? { tool_calls: calls.map(wholeCall) } : {};
}

/** Unreadable usage counts as missing: the response itself is good. */
function withReadableUsage(body: object): { readonly usage?: unknown } {
  if (!('usage' in body)) return {};
  const usage = readUsage(body.usage, Reflect.get(body, 'model'));
  return { usage: usage === undefined ? null : { ...Object(body.usage), ...usage } };
}

/** A whole response of an upstream that ignored `stream`. */
export async function* partsOf({
  usage,
  choices,
  ...head
}: UpstreamCompletion): AsyncGenerator<AnswerPart> {
  const partOf = chatParts();
  const chunk = { ...head, object: 'chat.completion.chunk' };
  yield partOf({
    ...chunk,
    choices: choices.map(({ message, finish_reason, ...choice }) => ({
      ...choice,
      delta: deltaOf(message),
      finish_reason: finish_reason ?? ('tool_calls' in message ? 'tool_calls' : 'stop'),
    })),
  });
  if (usage !== undefined && usage !== null) yield partOf({ ...chunk, choices: [], usage });
}

/** Clients tell the calls of a stream apart by their index, which a whole message does not have. */
function deltaOf(message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  const numbered = calls.map((call: unknown, index) =>
    isObject(call) ? { index, ...call } : call,
  );
  return { ...message, tool_calls: numbered };
}

/** Whether a response is an error, whatever its status. */
export function isErrorBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return 'error' in body && body.error !== null && body.error !== undefined;
}

function notACompletion() {
  return unreadableAnswer('the upstream response is not a chat completion');
}
