import type { UpstreamCompletion } from '@model-gateway/contracts';
import { chatUsage, reasoningFields, type TurnUsage } from '@model-gateway/dialects';
import { randomToken, tryParseJson } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';
import { z } from 'zod';
import { answerHead, createChunkShape, type AnswerContext } from '../chunk-shape.ts';
import { upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';
import { eventData } from '../transport/answers/event-data.ts';

const CALL_ID_BYTES = 12;
const PARTS_MAX = 10_000;

const count = z.int().nonnegative().optional();
const usageSchema = z.looseObject({
  promptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  toolUsePromptTokenCount: count,
  cachedContentTokenCount: count,
});

const partSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z
    .looseObject({ id: z.string().optional(), name: z.string(), args: z.unknown().optional() })
    .optional(),
});
type Part = z.output<typeof partSchema>;

const answerSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(partSchema).max(PARTS_MAX).optional() }).optional(),
        finishReason: z.string().optional(),
      }),
    )
    .max(PARTS_MAX)
    .optional(),
  promptFeedback: z.looseObject({ blockReason: z.string().optional() }).optional(),
  usageMetadata: usageSchema.optional().catch(undefined),
  modelVersion: z.string().optional(),
  responseId: z.string().optional(),
});
type Answer = z.output<typeof answerSchema>;

/** A whole answer as a completion. */
export function completionOf(value: unknown, { model, clock }: AnswerContext): UpstreamCompletion {
  const answer = readAnswer(value);
  const parts = partsOf(answer);
  const calls = parts.flatMap((part, index) => callOf(part, index));
  const text = textOf(parts, false);
  const head = answerHead(clock);
  return {
    id: answer.responseId === undefined ? head.id : `chatcmpl-${answer.responseId}`,
    object: 'chat.completion',
    created: head.created,
    model: answer.modelVersion ?? model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...thoughtFields(parts),
          ...(calls.length === 0
            ? {}
            : { tool_calls: calls.map(({ index: _index, ...call }) => call) }),
        },
        finish_reason: finishReason(answer, calls.length > 0) ?? 'stop',
      },
    ],
    usage: answer.usageMetadata && chatUsage(usageOf(answer.usageMetadata)),
  };
}

/** The events of a streamed answer as chunks; the last one has the usage. */
export async function* chunksOfAnswer(
  body: AsyncIterable<Uint8Array>,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  let shape: ReturnType<typeof createChunkShape> | undefined;
  let usage: Answer['usageMetadata'];
  let callCount = 0;
  let finish: string | undefined;
  for await (const data of eventData(body)) {
    const value = tryParseJson(data);
    if (hasError(value)) throw upstreamRefused(500, data, secret);
    const answer = readAnswer(value);
    shape ??= createChunkShape(answer.modelVersion ?? model, clock);
    usage = answer.usageMetadata ?? usage;
    for (const part of partsOf(answer)) {
      const calls = callOf(part, callCount);
      callCount += calls.length;
      const text = textOf([part], false);
      const delta = {
        ...(text === '' ? {} : { content: text }),
        ...thoughtFields([part]),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
      if (Object.keys(delta).length > 0) yield shape.delta(delta);
    }
    finish = finishReason(answer, callCount > 0) ?? finish;
  }
  // There is no end mark: an answer without a reason to end was cut off.
  if (shape === undefined || finish === undefined) {
    throw upstreamFailed('the upstream ended the stream before the answer was complete');
  }
  yield shape.delta({}, { finish_reason: finish });
  if (usage !== undefined) yield shape.usage(chatUsage(usageOf(usage)));
}

function readAnswer(value: unknown): Answer {
  const read = answerSchema.safeParse(value);
  if (read.success) return read.data;
  throw upstreamFailed('the upstream response is not one of its API');
}

const hasError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'error' in value;

const partsOf = ({ candidates }: Answer): readonly Part[] => candidates?.[0]?.content?.parts ?? [];

const textOf = (parts: readonly Part[], isThought: boolean): string =>
  parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('');

function thoughtFields(parts: readonly Part[]) {
  const text = textOf(parts, true);
  return text === '' ? {} : reasoningFields([{ type: 'reasoning', text }]);
}

function callOf({ functionCall: call, thoughtSignature }: Part, index: number) {
  if (call === undefined) return [];
  const id =
    call.id === undefined || call.id === '' ? `call_${randomToken(CALL_ID_BYTES)}` : call.id;
  return [
    {
      index,
      id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) },
      ...(thoughtSignature === undefined ? {} : { signature: thoughtSignature }),
    },
  ];
}

function finishReason(
  { candidates, promptFeedback }: Answer,
  hasCalls: boolean,
): string | undefined {
  if (promptFeedback?.blockReason !== undefined) return 'content_filter';
  const reason = candidates?.[0]?.finishReason;
  if (reason === undefined) return undefined;
  if (reason === 'MAX_TOKENS') return 'length';
  if (reason === 'STOP') return hasCalls ? 'tool_calls' : 'stop';
  return FILTERED.includes(reason) ? 'content_filter' : 'stop';
}

const FILTERED: readonly string[] = [
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
];

/** Thoughts are counted apart from the answer. */
function usageOf(usage: z.output<typeof usageSchema>): TurnUsage {
  const reasoningTokens = usage.thoughtsTokenCount;
  const cachedTokens = usage.cachedContentTokenCount;
  return {
    promptTokens: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    completionTokens: (usage.candidatesTokenCount ?? 0) + (reasoningTokens ?? 0),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}
