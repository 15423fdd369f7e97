import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';

/** The parts of a message that an answer depends on. */
export interface ChatMessage {
  readonly role: string;
  readonly text: string;
  readonly images: number;
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly parameters: JsonObject;
}

/** A chat request, independent of the protocol. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** `none`, `auto`, `required`, or the name of the one function to call. */
  readonly toolChoice: string;
  readonly maxTokens: number | undefined;
}

/** Parses an OpenAI-style chat body; returns an error message if it is invalid. */
export function readChatRequest(body: unknown): ChatRequest | string {
  if (!isObject(body)) return 'We could not parse the JSON body of your request.';
  const model = asText(body.model);
  if (model === undefined || model === '') return 'you must provide a model parameter';
  const messages = asList(body.messages);
  if (messages.length === 0) return "Missing required parameter: 'messages'.";
  return {
    model,
    messages: messages.map(readMessage),
    tools: asList(body.tools).flatMap(readTool),
    toolChoice: readToolChoice(body.tool_choice),
    maxTokens: asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens),
  };
}

function readMessage(value: unknown): ChatMessage {
  const message = asObject(value);
  const parts = asList(message.content).map(asObject);
  const texts = parts.map((part) => asText(part.text) ?? '').filter((text) => text !== '');
  const imageParts = parts.filter((part) => part.type === 'image_url' || part.type === 'image');
  return {
    role: asText(message.role) ?? 'user',
    text: asText(message.content) ?? texts.join('\n'),
    images: imageParts.length + asList(message.images).length,
  };
}

function readTool(value: unknown): Tool[] {
  const definition = asObject(asObject(value).function);
  const name = asText(definition.name);
  return name === undefined ? [] : [{ name, parameters: asObject(definition.parameters) }];
}

function readToolChoice(value: unknown): string {
  return asText(value) ?? asText(asObject(asObject(value).function).name) ?? 'auto';
}
