import {
  readMediaTokens,
  readCachedTokens,
  readCacheWriteTokens,
  readUsage,
  type AssistantPart,
  type FinishReason,
  type ReasoningPart,
  type TextPart,
  type TurnAnswer,
  type TurnEvent,
  type TurnUsage,
} from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import { callSignatureOf } from '../turn/call-signatures.ts';
import { countField, fieldOf, listField, present, textField } from '../turn/fields.ts';
import { imagePartsOf } from './images.ts';
import { callsOf, createCallPieces, givenText, newCallId } from './tool-calls.ts';
import { citationsOf } from './url-citations.ts';
import { reasoningPartsOf, toolCallPartOf } from './reply-parts.ts';

/** Reads a chat completion; only its first choice, since other APIs have one answer. */
export function answerOfChat(completion: unknown): TurnAnswer {
  const [choice] = listField(completion, 'choices');
  const message = fieldOf(choice, 'message');
  const refusal = textField(message, 'refusal') ?? '';
  const parts: readonly AssistantPart[] = [
    ...reasoningPartsOf(message),
    ...contentPartsOf(fieldOf(message, 'content')),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...imagePartsOf(message),
    ...listField(message, 'tool_calls').map((call) => ({
      ...toolCallPartOf(call),
      id: givenText(call, 'id') ?? newCallId(),
    })),
  ];
  return {
    id: textField(completion, 'id') ?? '',
    model: textField(completion, 'model') ?? '',
    created: countField(completion, 'created') ?? 0,
    parts,
    citations: citationsOf(message),
    finish: finishOf(fieldOf(choice, 'finish_reason')),
    ...present({ stopSequence: textField(choice, 'stop_sequence') }),
    usage: usageOfChat(completion),
  };
}

function contentPartsOf(content: unknown): readonly (TextPart | ReasoningPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): readonly (TextPart | ReasoningPart)[] => {
    const thought = thoughtOf(fieldOf(part, 'thinking'));
    if (thought !== '') return [{ type: 'reasoning', text: thought }];
    const text = textField(part, 'text');
    return text === undefined ? [] : [{ type: 'text', text }];
  });
}

/** Mistral's models think in a part of the content, which is text or has parts of its own. */
function thoughtOf(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part: unknown) => textField(part, 'text') ?? '').join('');
}

/** Reads the chunks of one streamed chat completion, one after the other. */
export function createChunkReader(): (chunk: unknown) => readonly TurnEvent[] {
  const pieceOf = createCallPieces();

  function toolCall(call: unknown, position: number): readonly TurnEvent[] {
    const { index, isFirst, id, name, text = '' } = pieceOf(call, position);
    const signature = callSignatureOf(call);
    return [
      ...(isFirst
        ? [{ type: 'tool_call' as const, index, id, name, ...present({ signature }) }]
        : []),
      ...(text === '' ? [] : [{ type: 'tool_arguments' as const, index, text }]),
    ];
  }

  return (chunk) => {
    const choice = listField(chunk, 'choices').find(
      (one) => (numberOf(fieldOf(one, 'index')) ?? 0) === 0,
    );
    const delta = fieldOf(choice, 'delta');
    const refusal = textField(delta, 'refusal') ?? '';
    const events: TurnEvent[] = [
      ...reasoningPartsOf(delta),
      ...contentPartsOf(fieldOf(delta, 'content')),
      ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
      ...citationsOf(delta).map((citation) => ({ type: 'citation' as const, citation })),
      ...imagePartsOf(delta),
      ...callsOf(delta).flatMap(toolCall),
    ];
    const reason = fieldOf(choice, 'finish_reason');
    if (typeof reason === 'string') {
      const stopSequence = textField(choice, 'stop_sequence');
      events.push({ type: 'finish', reason: finishOf(reason), ...present({ stopSequence }) });
    }
    const usage = usageOfChat(chunk);
    if (usage !== undefined) events.push({ type: 'usage', usage });
    return events;
  };
}

/** Reasons by which servers say that an answer is not whole. */
const FAILED: ReadonlySet<unknown> = new Set(['error', 'abort']);

/** Why a completion or a chunk ended without being whole, such as a call that the model wrote wrong. */
export function failureIn(answer: unknown): string | undefined {
  const choice = listField(answer, 'choices').find((one) =>
    FAILED.has(fieldOf(one, 'finish_reason')),
  );
  if (choice === undefined) return undefined;
  const reason = textField(choice, 'native_finish_reason') ?? textField(choice, 'finish_reason');
  return (
    textField(fieldOf(choice, 'error'), 'message') ??
    `the upstream ended the answer with '${reason}'`
  );
}

function finishOf(reason: unknown): FinishReason {
  if (reason === 'length' || reason === 'content_filter' || reason === 'tool_calls') return reason;
  return reason === 'function_call' ? 'tool_calls' : 'stop';
}

/** The usage of a chat completion, or of one of its chunks; undefined without counts. */
function usageOfChat(answer: unknown): TurnUsage | undefined {
  const usage = fieldOf(answer, 'usage');
  const counts = readUsage(usage, fieldOf(answer, 'model'));
  if (counts === undefined) return undefined;
  const completion = fieldOf(usage, 'completion_tokens_details');
  return {
    promptTokens: counts.prompt_tokens,
    completionTokens: counts.completion_tokens,
    ...present({
      cachedTokens: readCachedTokens(usage),
      cacheWriteTokens: readCacheWriteTokens(usage),
      // SGLang has them beside the other counts.
      reasoningTokens:
        countField(completion, 'reasoning_tokens') ?? countField(usage, 'reasoning_tokens'),
      mediaTokens: readMediaTokens(usage),
    }),
  };
}

/** The usage of a turn as a chat completion has it. */
export function chatUsage(usage: TurnUsage) {
  const { promptTokens, completionTokens, mediaTokens } = usage;
  const promptDetails = present({
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    audio_tokens: mediaTokens?.audio_input,
    cached_tokens_details: mediaTokens?.cached_audio_input
      ? { audio_tokens: mediaTokens.cached_audio_input }
      : undefined,
  });
  const completionDetails = present({
    reasoning_tokens: usage.reasoningTokens,
    audio_tokens: mediaTokens?.audio_output,
    image_tokens: mediaTokens?.image_output,
  });
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(isEmpty(promptDetails) ? {} : { prompt_tokens_details: promptDetails }),
    ...(isEmpty(completionDetails) ? {} : { completion_tokens_details: completionDetails }),
  };
}

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;
