import type { UpstreamCompletion } from '@model-gateway/contracts';
import {
  callSignatureFields,
  chatUsage,
  imageFields,
  reasoningFields,
  withUsageSoFar,
} from '@model-gateway/dialects';
import { randomToken, tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure, type ChatChunk } from '@model-gateway/router';
import { answerHead, createChunkShape, wholeChoice, type AnswerContext } from '../chunk-shape.ts';
import { cleanMessage, upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';
import { countOf, fieldOf } from '../fields.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { readAnswer, type GeminiAnswer, type GeminiPart } from './read-answer.ts';

const CALL_ID_BYTES = 12;

/** A whole answer as a completion. */
export function completionOf(value: unknown, { model, clock }: AnswerContext): UpstreamCompletion {
  const answer = readAnswer(value);
  const { parts, usage } = answer;
  const calls = parts.flatMap((part) => callOf(part));
  const images = parts.flatMap(({ image }) => image ?? []);
  const text = textOf(parts, false);
  const thought = textOf(parts, true);
  const head = answerHead(clock);
  return {
    id: answer.id === undefined ? head.id : `chatcmpl-${answer.id}`,
    object: 'chat.completion',
    created: head.created,
    model: answer.model ?? model,
    choices: [
      wholeChoice(
        {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...(thought === '' ? {} : reasoningFields([{ type: 'reasoning', text: thought }])),
          ...imageFields(images),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        {
          finish_reason:
            finishReason(answer, { hasCalls: calls.length > 0, hasContent: parts.length > 0 }) ??
            'stop',
        },
      ),
    ],
    usage: usage && chatUsage(usage),
  };
}

/** The events of a streamed answer as chunks; the last one has the usage. */
export async function* chunksOfAnswer(
  body: AsyncIterable<Uint8Array>,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  let shape: ReturnType<typeof createChunkShape> | undefined;
  let usage: GeminiAnswer['usage'];
  let callCount = 0;
  let imageCount = 0;
  let hasContent = false;
  let finish: string | undefined;
  // Images and hidden thoughts are not in an estimate, and a client may leave at any time.
  const known = (chunk: ChatChunk): ChatChunk =>
    usage === undefined ? chunk : withUsageSoFar(chunk, usage);
  for await (const data of eventData(body, { isComplete: () => finish !== undefined })) {
    const value = tryParseJson(data);
    if (hasError(value)) throw upstreamRefused(errorStatus(value), data, secret);
    const answer = readAnswer(value);
    shape ??= createChunkShape(answer.model ?? model, clock);
    usage = answer.usage ?? usage;
    for (const part of answer.parts) {
      const calls = callOf(part).map((call) => ({ index: callCount, ...call }));
      callCount += calls.length;
      if (part.text !== '')
        yield known(shape.delta({ [part.isThought ? 'reasoning_content' : 'content']: part.text }));
      if (part.image !== undefined) {
        yield known(shape.delta(imageFields([part.image], imageCount++)));
      }
      if (calls.length > 0) yield known(shape.delta({ tool_calls: calls }));
      hasContent = true;
    }
    finish = finishReason(answer, { hasCalls: callCount > 0, hasContent }) ?? finish;
  }
  // There is no end mark: an answer without a reason to end was cut off.
  if (shape === undefined || finish === undefined) {
    throw upstreamFailed('the upstream ended the stream before the answer was complete');
  }
  yield shape.delta({}, { finish_reason: finish });
  if (usage !== undefined) yield shape.usage(chatUsage(usage));
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

function callOf({ call }: GeminiPart) {
  if (call === undefined) return [];
  const { id = `call_${randomToken(CALL_ID_BYTES)}`, name, signature } = call;
  return [
    {
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(call.arguments) },
      ...callSignatureFields(signature),
    },
  ];
}

interface AnswerSoFar {
  readonly hasCalls: boolean;
  readonly hasContent: boolean;
}

/** Why an answer ended; throws if it ended with an error of the model, which would look like an empty answer. */
function finishReason(
  { finishReason: reason, blockReason }: GeminiAnswer,
  { hasCalls, hasContent }: AnswerSoFar,
): string | undefined {
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
