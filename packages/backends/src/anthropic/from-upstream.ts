import type { UpstreamCompletion } from '@model-gateway/contracts';
import {
  chatUsage,
  reasoningFields,
  type ReasoningPart,
  type TurnUsage,
} from '@model-gateway/dialects';
import { tryParseJson } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';
import { z } from 'zod';
import { answerHead, createChunkShape, type AnswerContext } from '../chunk-shape.ts';
import { cleanMessage, upstreamFailed } from '../errors/upstream-error.ts';
import { eventData } from '../transport/answers/event-data.ts';

const count = z.int().nonnegative().nullish();
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
type Usage = z.output<typeof usageSchema>;

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  data: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
type Block = z.output<typeof blockSchema>;

const messageSchema = z.looseObject({
  id: z.string().optional(),
  model: z.string().optional(),
  content: z.array(blockSchema),
  stop_reason: z.string().nullish(),
  stop_sequence: z.string().nullish(),
  usage: usageSchema.optional().catch(undefined),
});

const BLOCKS_MAX = 10_000;

/** A whole answer of the Messages API as a completion. */
export function completionOf(value: unknown, { model, clock }: AnswerContext): UpstreamCompletion {
  const content: unknown =
    typeof value === 'object' && value !== null && Reflect.get(value, 'content');
  if (!Array.isArray(content) || content.length > BLOCKS_MAX) throw notAMessage();
  const read = messageSchema.safeParse(value);
  if (!read.success) throw notAMessage();
  const message = read.data;
  const text = message.content.map((block) => block.text ?? '').join('');
  const calls = message.content.flatMap((block) =>
    block.type === 'tool_use' ? [callOf(block)] : [],
  );
  const head = answerHead(clock);
  return {
    id: message.id === undefined ? head.id : `chatcmpl-${message.id}`,
    object: 'chat.completion',
    created: head.created,
    model: message.model ?? model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...reasoningFields(message.content.flatMap(thoughtOf)),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        ...finishFields(message),
      },
    ],
    usage: message.usage && chatUsage(usageOf(message.usage)),
  };
}

const notAMessage = () => upstreamFailed('the upstream response is not a message');

function callOf({ id = '', name = '', input }: Block) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };
}

function thoughtOf(block: Block): readonly ReasoningPart[] {
  if (block.type === 'redacted_thinking') {
    return [{ type: 'reasoning', text: '', encrypted: block.data ?? '' }];
  }
  if (block.type !== 'thinking') return [];
  const signature = block.signature === undefined ? {} : { signature: block.signature };
  return [{ type: 'reasoning', text: block.thinking ?? '', ...signature }];
}

interface Stop {
  readonly stop_reason?: string | null | undefined;
  readonly stop_sequence?: string | null | undefined;
}

/** Chat completions do not say which text stopped the answer; it is in a field of its own. */
function finishFields({ stop_reason: reason, stop_sequence: sequence }: Stop) {
  const isText = typeof sequence === 'string';
  return { finish_reason: finishReason(reason), ...(isText ? { stop_sequence: sequence } : {}) };
}

function finishReason(reason: string | null | undefined): string {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}

/** This API counts the tokens of its cache apart from the others. */
function usageOf(usage: Usage): TurnUsage {
  const cachedTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    promptTokens: (usage.input_tokens ?? 0) + cachedTokens + cacheWriteTokens,
    completionTokens: usage.output_tokens ?? 0,
    cachedTokens,
    cacheWriteTokens,
  };
}

const eventSchema = z.looseObject({
  type: z.string(),
  index: z.int().optional(),
  message: z
    .looseObject({ model: z.string().optional(), usage: usageSchema.optional() })
    .optional(),
  content_block: blockSchema.optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
      stop_sequence: z.string().nullish(),
    })
    .optional(),
  usage: usageSchema.optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});
type Event = z.output<typeof eventSchema>;

/** The events of a streamed answer as chunks; the last one has the usage. */
export async function* chunksOfMessage(
  body: AsyncIterable<Uint8Array>,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  let shape = createChunkShape(model, clock);
  let usage: Usage = {};
  /** The position of each tool call by the index of its block. */
  const calls = new Map<number, number>();

  function* started({ index = 0, content_block: block }: Event): Generator<ChatChunk> {
    if (block?.type === 'tool_use') {
      const position = calls.size;
      calls.set(index, position);
      const { id = '', name = '' } = block;
      const call = { index: position, id, type: 'function', function: { name, arguments: '' } };
      yield shape.delta({ tool_calls: [call] });
    } else if (block?.type === 'redacted_thinking')
      yield shape.delta(reasoningFields(thoughtOf(block)));
    else if (block?.text !== undefined && block.text !== '')
      yield shape.delta({ content: block.text });
  }

  function* continued({ index = 0, delta }: Event): Generator<ChatChunk> {
    if (delta?.text !== undefined) yield shape.delta({ content: delta.text });
    else if (delta?.thinking !== undefined)
      yield shape.delta({ reasoning_content: delta.thinking });
    else if (delta?.signature !== undefined) {
      yield shape.delta(
        reasoningFields([{ type: 'reasoning', text: '', signature: delta.signature }]),
      );
    } else if (delta?.partial_json !== undefined && delta.partial_json !== '') {
      const call = { index: calls.get(index) ?? 0, function: { arguments: delta.partial_json } };
      yield shape.delta({ tool_calls: [call] });
    }
  }

  for await (const data of eventData(body)) {
    const read = eventSchema.safeParse(tryParseJson(data));
    if (!read.success)
      throw upstreamFailed('the upstream sent an event that is not one of its API');
    const event = read.data;
    switch (event.type) {
      case 'message_start':
        shape = createChunkShape(event.message?.model ?? model, clock);
        usage = event.message?.usage ?? {};
        yield shape.delta({ content: '' });
        break;
      case 'content_block_start':
        yield* started(event);
        break;
      case 'content_block_delta':
        yield* continued(event);
        break;
      case 'message_delta':
        usage = { ...usage, ...known(event.usage) };
        yield shape.delta({}, finishFields(event.delta ?? {}));
        break;
      case 'message_stop':
        yield shape.usage(chatUsage(usageOf(usage)));
        return;
      case 'error':
        yield { error: { message: cleanMessage(event.error?.message ?? 'unknown error', secret) } };
        return;
    }
  }
  throw upstreamFailed('the upstream ended the stream before the answer was complete');
}

/** Counts that are absent in a later report stay. */
const known = (usage: Usage = {}): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => typeof value === 'number'));
