import { countField, fieldOf, listField, present, textField } from './fields.ts';
import { reasoningPartsOf, toolCallPartOf } from './reply-parts.ts';
import type { AssistantPart, FinishReason, TurnAnswer, TurnEvent, TurnUsage } from './turn.ts';

const NO_USAGE: TurnUsage = { promptTokens: 0, completionTokens: 0 };

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
    ...listField(message, 'tool_calls').map((call) => toolCallPartOf(call)),
  ];
  return {
    id: textField(completion, 'id') ?? '',
    model: textField(completion, 'model') ?? '',
    created: countField(completion, 'created') ?? 0,
    parts,
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
  const begun = new Set<number>();

  function toolCall(call: unknown, position: number): readonly TurnEvent[] {
    const index = countField(call, 'index') ?? position;
    const called = fieldOf(call, 'function');
    const events: TurnEvent[] = [];
    if (!begun.has(index)) {
      begun.add(index);
      const id = textField(call, 'id') ?? `call_${index}`;
      const name = textField(called, 'name') ?? '';
      const signature = textField(call, 'signature');
      events.push({ type: 'tool_call', index, id, name, ...present({ signature }) });
    }
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
