import type {
  AnswerPart,
  FinishReason,
  ToolCallPart,
  TurnAnswer,
  TurnEvent,
} from '@model-gateway/contracts';
import { eventsOfCall } from '@model-gateway/dialects';
import { randomToken, tryParseExactJson } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { answerHead, type AnswerContext } from '../answer-head.ts';
import { cleanMessage, upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';
import { countOf, fieldOf } from '../fields.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { readAnswer, type GeminiAnswer, type GeminiPart } from './read-answer.ts';

const CALL_ID_BYTES = 12;

/** A whole answer. */
export function answerOf(value: unknown, { model, clock }: AnswerContext): TurnAnswer {
  const answer = readAnswer(value);
  const { parts, usage } = answer;
  const calls = parts.flatMap((part) => callOf(part));
  const text = textOf(parts, false);
  const thought = textOf(parts, true);
  const head = answerHead(clock);
  const ended = { hasCalls: calls.length > 0, hasContent: parts.length > 0 };
  return {
    id: answer.id === undefined ? head.id : `chatcmpl-${answer.id}`,
    created: head.created,
    model: answer.model ?? model,
    parts: [
      ...(thought === '' ? [] : [{ type: 'reasoning' as const, text: thought }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...parts.flatMap(({ image }) => image ?? []),
      ...calls,
    ],
    finish: finishReason(answer, ended) ?? 'stop',
    usage,
  };
}

/** The events of a streamed answer; the last one has the usage. `secret` is the backend's key, which must not appear in messages. */
export async function* partsOfAnswer(
  body: AsyncIterable<Uint8Array>,
  secret: string | null,
): AsyncGenerator<AnswerPart, void, undefined> {
  let hasBegun = false;
  let model: string | undefined;
  let usage: GeminiAnswer['usage'];
  let callCount = 0;
  let hasContent = false;
  let finish: FinishReason | undefined;
  for await (const data of eventData(body, { isComplete: () => finish !== undefined })) {
    const value = tryParseExactJson(data);
    if (hasError(value)) throw upstreamRefused(errorStatus(value), data, secret);
    const answer = readAnswer(value);
    model ??= answer.model;
    usage = answer.usage ?? usage;
    for (const part of answer.parts) {
      // Images and hidden thoughts are not in an estimate, and a client may leave at any time.
      for (const events of eventsOf(part, callCount)) {
        yield { events, model: hasBegun ? undefined : answer.model, usageSoFar: usage };
        hasBegun = true;
      }
      if (part.call !== undefined) callCount += 1;
      hasContent = true;
    }
    hasBegun = true;
    finish = finishReason(answer, { hasCalls: callCount > 0, hasContent }) ?? finish;
  }
  // There is no end mark: an answer without a reason to end was cut off.
  if (finish === undefined) {
    throw upstreamFailed('the upstream ended the stream before the answer was complete');
  }
  // An answer of thoughts alone has no other part.
  yield { events: [{ type: 'finish', reason: finish }], model };
  if (usage !== undefined) yield { events: [{ type: 'usage', usage }] };
}

/** What a part says, step by step. */
function eventsOf(part: GeminiPart, index: number): readonly (readonly TurnEvent[])[] {
  const { text, isThought, image } = part;
  const [call] = callOf(part);
  return [
    ...(text === ''
      ? []
      : [[{ type: isThought ? ('reasoning' as const) : ('text' as const), text }]]),
    ...(image === undefined ? [] : [[image]]),
    ...(call === undefined ? [] : [eventsOfCall(call, index)]),
  ];
}

const hasError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'error' in value;

/** The status that an error in a stream names. */
function errorStatus(value: unknown): number {
  const code = countOf(fieldOf(value, 'error'), 'code') ?? 0;
  return code >= 400 && code < 600 ? code : 500;
}

const textOf = (parts: readonly GeminiPart[], isThought: boolean): string =>
  parts.map((part) => (part.isThought === isThought ? part.text : '')).join('');

function callOf({ call }: GeminiPart): readonly ToolCallPart[] {
  if (call === undefined) return [];
  const { id = `call_${randomToken(CALL_ID_BYTES)}`, name, signature } = call;
  return [{ type: 'tool_call', id, name, arguments: JSON.stringify(call.arguments), signature }];
}

interface AnswerSoFar {
  readonly hasCalls: boolean;
  readonly hasContent: boolean;
}

/** Why an answer ended; throws if it ended with an error of the model, which would look like an empty answer. */
function finishReason(
  { finishReason: reason, blockReason }: GeminiAnswer,
  { hasCalls, hasContent }: AnswerSoFar,
): FinishReason | undefined {
  if (blockReason !== undefined) return 'content_filter';
  if (reason === undefined) return undefined;
  if (reason === 'MAX_TOKENS') return 'length';
  if (reason === 'STOP') return hasCalls ? 'tool_calls' : 'stop';
  if (FILTERED.has(reason)) return 'content_filter';
  if (!hasContent || WRONG_CALLS.has(reason)) throw endedWith(reason);
  return 'stop';
}

/** The same request may succeed, and the backend works. */
const endedWith = (reason: string): UpstreamFailure =>
  new UpstreamFailure(`the upstream ended the answer with ${cleanMessage(reason, null)}`, {
    isBackendAtFault: false,
    wasAnswered: true,
  });

const WRONG_CALLS: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
]);

const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
