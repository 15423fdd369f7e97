import type {
  AssistantPart,
  FinishReason,
  ToolCallPart,
  TurnAnswer,
  TurnUsage,
} from '@model-gateway/contracts';
import { createInnerJson, numberOf, type ParseInnerJson } from '@model-gateway/kernel';
import { sealCallSignature } from '../turn/call-signatures.ts';

const CHAT_ID = 'chatcmpl-';
export const NO_USAGE: TurnUsage = { promptTokens: 0, completionTokens: 0 };

export interface AnswerOptions {
  /** Whether the client asked for thoughts, so that it knows their blocks and sends them back. */
  readonly hasThoughts: boolean;
}

/** The body of a whole answer. */
export function messageOf(answer: TurnAnswer, { hasThoughts }: AnswerOptions): object {
  const { id, model, parts, finish, stopSequence, usage } = answer;
  const parse = createInnerJson();
  return {
    ...messageHead(id, model),
    content: parts.flatMap((part) => [
      ...(hasThoughts && part.type === 'tool_call' ? callThought(part) : []),
      ...blockOf(part, parse),
    ]),
    ...stopFields(finish, {
      hasCalls: parts.some(({ type }) => type === 'tool_call'),
      isRefusal: parts.some(({ type }) => type === 'refusal'),
      stopSequence,
    }),
    usage: messagesUsage(usage),
  };
}

/** Fields that every message has, and that only the provider of this API sets. */
const EMPTY_FIELDS = { container: null, diagnostics: null, stop_details: null };

/** The fields that are known before the answer. */
export const messageHead = (id: string, model: string) => ({
  ...EMPTY_FIELDS,
  id: `msg_${id.startsWith(CHAT_ID) ? id.slice(CHAT_ID.length) : id}`,
  type: 'message',
  role: 'assistant',
  model,
});

function blockOf(part: AssistantPart, parse: ParseInnerJson): readonly object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [textBlock(part.text)];
    case 'reasoning':
      return [
        part.encrypted === undefined
          ? { type: 'thinking', thinking: part.text, signature: part.signature ?? '' }
          : { type: 'redacted_thinking', data: part.encrypted },
      ];
    case 'image':
      // Answers of this API have no images.
      return [];
    case 'tool_call':
      return [{ ...toolUse(part.id, part.name), input: inputOf(part.arguments, parse) }];
  }
}

export const textBlock = (text: string) => ({ type: 'text', text, citations: [] });

/** A thought that carries the signature of a call. */
export const callThought = ({ id, signature }: Pick<ToolCallPart, 'id' | 'signature'>) =>
  signature === undefined
    ? []
    : [{ type: 'thinking', thinking: '', signature: sealCallSignature(id, signature) }];

/** A block of a tool call without its input. */
export const toolUse = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });

/** The input is an object; what a model wrote may be anything. */
function inputOf(text: string, parse: ParseInnerJson): unknown {
  const input = parse(text);
  return typeof input === 'object' && numberOf(input) === undefined ? (input ?? {}) : {};
}

interface AnswerContent {
  readonly hasCalls: boolean;
  readonly isRefusal: boolean;
  readonly stopSequence: string | undefined;
}

/** Why the answer ended, and the text that ended it. */
export function stopFields(finish: FinishReason, content: AnswerContent) {
  const reason = stopReason(finish, content);
  const sequence = reason === 'stop_sequence' ? (content.stopSequence ?? null) : null;
  return { stop_reason: reason, stop_sequence: sequence, stop_details: stopDetails(reason) };
}

const stopDetails = (reason: string) =>
  reason === 'refusal' ? { type: reason, category: null, explanation: null } : null;

function stopReason(
  finish: FinishReason,
  { hasCalls, isRefusal, stopSequence }: AnswerContent,
): string {
  if (finish === 'content_filter' || isRefusal) return 'refusal';
  if (finish === 'length') return 'max_tokens';
  if (hasCalls) return 'tool_use';
  return stopSequence === undefined ? 'end_turn' : 'stop_sequence';
}

/** The usage of a message, with the fields that are null unless the provider of this API sets them. */
export const messagesUsage = (usage: TurnUsage = NO_USAGE) => ({
  ...streamedUsage(usage),
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
});

/** The usage at the end of a stream. This API counts the tokens of the cache apart from the others. */
export function streamedUsage({
  promptTokens,
  completionTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
  reasoningTokens,
}: TurnUsage) {
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details:
      reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  };
}
