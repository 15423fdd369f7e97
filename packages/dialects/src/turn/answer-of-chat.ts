import { randomToken } from '@model-gateway/kernel';
import { countField, fieldOf, listField, present, textField } from './fields.ts';
import { imagePartsOf } from './generated-images.ts';
import { citationsOf } from './url-citations.ts';
import { reasoningPartsOf, toolCallPartOf } from './reply-parts.ts';
import type { AssistantPart, FinishReason, TurnAnswer, TurnEvent, TurnUsage } from './turn.ts';

const NO_USAGE: TurnUsage = { promptTokens: 0, completionTokens: 0 };
const CALL_ID_BYTES = 12;

/** Reads a chat completion; only its first choice, since other APIs have one answer. */
export function answerOfChat(completion: unknown): TurnAnswer {
  const [choice] = listField(completion, 'choices');
  const message = fieldOf(choice, 'message');
  const content = fieldOf(message, 'content');
  const refusal = textField(message, 'refusal') ?? '';
  const parts: readonly AssistantPart[] = [
    ...reasoningPartsOf(message),
    ...textsOf(content).map((text) => ({ type: 'text' as const, text })),
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
    usage: usageOfChat(fieldOf(completion, 'usage')) ?? NO_USAGE,
  };
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => textField(part, 'text') ?? []);
}

/** Reads the chunks of one streamed chat completion, one after the other. */
export function createChunkReader(): (chunk: unknown) => readonly TurnEvent[] {
  /** The call that each index of the upstream stands for now. */
  const current = new Map<number, { readonly index: number; readonly id: string | undefined }>();
  let begun = 0;

  function toolCall(call: unknown, position: number): readonly TurnEvent[] {
    const place = countField(call, 'index');
    const called = fieldOf(call, 'function');
    const id = givenText(call, 'id');
    const name = givenText(called, 'name');
    const events: TurnEvent[] = [];
    let known = current.get(place ?? position);
    // Some upstreams give all calls the same index, or none: then another name with another id begins a call.
    const isOther =
      name !== undefined &&
      (id === undefined || known?.id === undefined ? place === undefined : id !== known.id);
    if (known === undefined || isOther) {
      known = { index: begun, id };
      begun += 1;
      current.set(place ?? position, known);
      const signature = textField(call, 'signature');
      events.push({
        type: 'tool_call',
        index: known.index,
        id: id ?? newCallId(),
        name: name ?? '',
        ...present({ signature }),
      });
    }
    const { index } = known;
    const given = fieldOf(called, 'arguments');
    const text = typeof given === 'object' && given !== null ? JSON.stringify(given) : given;
    if (typeof text === 'string' && text !== '')
      events.push({ type: 'tool_arguments', index, text });
    return events;
  }

  return (chunk) => {
    const choice = listField(chunk, 'choices').find((one) => (fieldOf(one, 'index') ?? 0) === 0);
    const delta = fieldOf(choice, 'delta');
    const refusal = textField(delta, 'refusal') ?? '';
    const events: TurnEvent[] = [
      ...reasoningPartsOf(delta),
      ...textsOf(fieldOf(delta, 'content')).map((text) => ({ type: 'text' as const, text })),
      ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
      ...citationsOf(delta).map((citation) => ({ type: 'citation' as const, citation })),
      ...imagePartsOf(delta),
      ...listField(delta, 'tool_calls').flatMap(toolCall),
    ];
    const reason = fieldOf(choice, 'finish_reason');
    if (typeof reason === 'string') {
      const stopSequence = textField(choice, 'stop_sequence');
      events.push({ type: 'finish', reason: finishOf(reason), ...present({ stopSequence }) });
    }
    const usage = usageOfChat(fieldOf(chunk, 'usage'));
    if (usage !== undefined) events.push({ type: 'usage', usage });
    return events;
  };
}

const newCallId = (): string => `call_${randomToken(CALL_ID_BYTES)}`;

function givenText(value: unknown, field: string): string | undefined {
  const text = textField(value, field);
  return text === '' ? undefined : text;
}

function finishOf(reason: unknown): FinishReason {
  if (reason === 'length' || reason === 'content_filter' || reason === 'tool_calls') return reason;
  return reason === 'function_call' ? 'tool_calls' : 'stop';
}

/** The usage of a chat completion; undefined without counts. */
function usageOfChat(usage: unknown): TurnUsage | undefined {
  const promptTokens = countField(usage, 'prompt_tokens');
  const completionTokens = countField(usage, 'completion_tokens');
  if (promptTokens === undefined && completionTokens === undefined) return undefined;
  const prompt = fieldOf(usage, 'prompt_tokens_details');
  const completion = fieldOf(usage, 'completion_tokens_details');
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    ...present({
      cachedTokens: countField(prompt, 'cached_tokens'),
      cacheWriteTokens: countField(prompt, 'cache_write_tokens'),
      reasoningTokens: countField(completion, 'reasoning_tokens'),
    }),
  };
}

/** The usage of a turn as a chat completion has it. */
export function chatUsage(usage: TurnUsage) {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const hasPromptDetails = cachedTokens !== undefined || cacheWriteTokens !== undefined;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(hasPromptDetails
      ? {
          prompt_tokens_details: present({
            cached_tokens: cachedTokens,
            cache_write_tokens: cacheWriteTokens,
          }),
        }
      : {}),
    ...(reasoningTokens === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}
