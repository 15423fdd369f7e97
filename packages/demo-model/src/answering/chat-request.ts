import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';
import { readAttachments, type Attachment } from './attachments.ts';

/** The parts of a message that an answer depends on. */
export interface ChatMessage {
  readonly role: string;
  readonly text: string;
  /** Images, and other parts that are not text. */
  readonly attachments: readonly Attachment[];
  /** The calls of an assistant message. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string }[];
  /** The call whose result a tool message is. */
  readonly toolCallId: string | undefined;
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A chat request, independent of the protocol. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** `none`, `auto`, `required`, or the name of the one function to call. */
  readonly toolChoice: string;
  readonly parallelToolCalls: boolean;
  /** The format of a JSON answer; undefined for text. */
  readonly json: { readonly schema: unknown } | undefined;
  readonly isReasoning: boolean;
  readonly stop: readonly string[];
  /** How many answers there are. */
  readonly choices: number;
  readonly maxTokens: number | undefined;
}

const REASONING_MODEL = 'demo-reasoner';
const NO_REASONING: readonly unknown[] = [undefined, null, 'none', 'minimal', false];
const STOP_TEXTS_MAX = 16;
const CHOICES_MAX = 16;

/** Parses an OpenAI-style chat body; returns an error message if it is invalid. */
export function readChatRequest(body: unknown): ChatRequest | string {
  if (!isObject(body)) return 'We could not parse the JSON body of your request.';
  const model = asText(body.model);
  if (model === undefined || model === '') return 'you must provide a model parameter';
  const messages = asList(body.messages);
  if (messages.length === 0) return "Missing required parameter: 'messages'.";
  const choices = readChoices(body.n);
  if (choices === undefined) return CHOICES_PROBLEM;
  return {
    model,
    messages: messages.map(readMessage),
    tools: asList(body.tools).flatMap(readTool),
    toolChoice: readToolChoice(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls !== false,
    json: readFormat(asObject(body.response_format)),
    isReasoning: model === REASONING_MODEL || asksForReasoning(body),
    stop: readStop(body.stop),
    choices,
    maxTokens: asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens),
  };
}

/** The error for an `n` that is not valid. */
export const CHOICES_PROBLEM = `Invalid 'n': must be a whole number from 1 to ${CHOICES_MAX}.`;

/** How many answers a request wants; undefined if that is not valid. */
export function readChoices(value: unknown): number | undefined {
  const count = value ?? 1;
  return Number.isInteger(count) && Number(count) >= 1 && Number(count) <= CHOICES_MAX
    ? Number(count)
    : undefined;
}

/** The texts at which an answer ends. */
export const readStop = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : asList(value).slice(0, STOP_TEXTS_MAX)).flatMap(
    (text) => (asText(text) ?? '') || [],
  );

function readMessage(value: unknown): ChatMessage {
  const message = asObject(value);
  // The older form of a call and its result, which have no id.
  const olderCall = asText(asObject(message.function_call).name);
  const isOlderResult = message.role === 'function';
  const parts = asList(message.content).map(asObject);
  const texts = parts.map((part) => asText(part.text) ?? '').filter((text) => text !== '');
  return {
    role: isOlderResult ? 'tool' : (asText(message.role) ?? 'user'),
    text: asText(message.content) ?? texts.join('\n'),
    attachments: readAttachments(parts, asList(message.images)),
    toolCalls: [
      ...asList(message.tool_calls).map((call) => ({
        id: asText(asObject(call).id) ?? '',
        name: asText(asObject(asObject(call).function).name) ?? '',
      })),
      ...(olderCall === undefined ? [] : [{ id: olderCall, name: olderCall }]),
    ],
    toolCallId: asText(isOlderResult ? message.name : message.tool_call_id),
  };
}

function readTool(value: unknown): Tool[] {
  const definition = asObject(asObject(value).function);
  const name = asText(definition.name);
  if (name === undefined) return [];
  const description = asText(definition.description) ?? '';
  return [{ name, description, parameters: asObject(definition.parameters) }];
}

function readToolChoice(value: unknown): string {
  return asText(value) ?? asText(asObject(asObject(value).function).name) ?? 'auto';
}

function readFormat(format: JsonObject): ChatRequest['json'] {
  if (format.type === 'json_schema') return { schema: asObject(format.json_schema).schema };
  return format.type === 'json_object' ? { schema: undefined } : undefined;
}

function asksForReasoning(body: JsonObject): boolean {
  if (!NO_REASONING.includes(body.reasoning_effort)) return true;
  if (!isObject(body.reasoning)) return false;
  const { effort = 'medium', enabled } = body.reasoning;
  return enabled !== false && !NO_REASONING.includes(effort);
}
