import {
  readWritten,
  type FinishReason,
  type ReasoningPart,
  type ToolCallPart,
  type TurnAnswer,
  type TurnUsage,
  type UrlCitation,
} from '@model-gateway/contracts';
import { z } from 'zod';
import { answerHead, type AnswerContext } from '../answer-head.ts';
import { unreadableAnswer } from '../errors/upstream-error.ts';
import { urlCitation } from './citations.ts';

const count = readWritten(z.int().nonnegative()).nullish();
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish().catch(undefined),
});
export type Usage = z.output<typeof usageSchema>;

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  citations: z.array(z.unknown()).nullish().catch(undefined),
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

/** A whole answer of the Messages API. */
export function answerOfMessage(value: unknown, { model, clock }: AnswerContext): TurnAnswer {
  const content: unknown =
    typeof value === 'object' && value !== null && Reflect.get(value, 'content');
  if (!Array.isArray(content) || content.length > BLOCKS_MAX) throw notAMessage();
  const read = messageSchema.safeParse(value);
  if (!read.success) throw notAMessage();
  const message = read.data;
  const blocks = message.content;
  const text = blocks.map((block) => block.text ?? '').join('');
  const { reason: finish, stopSequence } = finishOf(message);
  const head = answerHead(clock);
  return {
    id: message.id === undefined ? head.id : `chatcmpl-${message.id}`,
    created: head.created,
    model: message.model ?? model,
    parts: [
      ...blocks.flatMap(thoughtOf),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...blocks.flatMap((block) => (block.type === 'tool_use' ? [callOf(block)] : [])),
    ],
    citations: citationsIn(blocks),
    finish,
    stopSequence,
    usage: message.usage && usageOf(message.usage),
  };
}

const notAMessage = () => unreadableAnswer('the upstream response is not a message');

/** A block is about what it cites. */
function citationsIn(blocks: readonly Block[]): readonly UrlCitation[] {
  let start = 0;
  return blocks.flatMap(({ text = '', citations }) => {
    const end = start + text.length;
    const span = { start, end };
    start = end;
    return (citations ?? []).flatMap((citation) => urlCitation(citation, span));
  });
}

const callOf = ({ id = '', name = '', input }: Block): ToolCallPart => ({
  type: 'tool_call',
  id,
  name,
  arguments: JSON.stringify(input ?? {}),
});

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

/** Why a message ended, and the text that ended it. */
export function finishOf({ stop_reason: reason, stop_sequence: sequence }: Stop) {
  return {
    reason: finishReason(reason),
    ...(typeof sequence === 'string' ? { stopSequence: sequence } : {}),
  };
}

function finishReason(reason: string | null | undefined): FinishReason {
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
export function usageOf(usage: Usage): TurnUsage {
  const cachedTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    promptTokens: (usage.input_tokens ?? 0) + cachedTokens + cacheWriteTokens,
    completionTokens: usage.output_tokens ?? 0,
    cachedTokens,
    cacheWriteTokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? undefined,
  };
}
