import {
  NO_LIMIT,
  ServiceError,
  type AssistantPart,
  type FunctionTool,
  type MediaSource,
  type OutputFormat,
  type TextPart,
  type ToolChoice,
  type Turn,
  type TurnMessage,
  type UserPart,
} from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import { fieldOf, listField, numberField, present, textField } from '../turn/fields.ts';
import { dataUrl } from '../turn/data-url.ts';
import { imagePartsOf } from './images.ts';
import { reasoningPartsOf, toolCallPartOf } from './reply-parts.ts';

/** The fields of a chat body that a turn expresses by itself. */
const READ_FIELDS = new Set([
  'model',
  'messages',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stream',
  'stream_options',
  'user',
]);

/** Reads a chat-completions body, as clients or dialects made it. What a turn cannot express is refused by name. */
export function turnOfChat(body: Readonly<Record<string, unknown>> & { model: string }): Turn {
  const number = (name: string): number | undefined => numberField(body, name);
  const further = Object.entries(body).filter(([name]) => !READ_FIELDS.has(name));
  const choice = body['tool_choice'] ?? body['function_call'];
  const allowed = allowedOf(choice);
  const limit = number('max_completion_tokens') ?? number('max_tokens');
  return {
    model: body.model,
    messages: listField(body, 'messages').map(turnMessage),
    tools: toolsOf(body).filter(({ name }) => allowed?.names.has(name) !== false),
    ...present({
      toolChoice: allowed?.mode ?? toolChoiceOf(choice),
      parallelToolCalls: boolean(body['parallel_tool_calls']),
      output: outputOf(body['response_format']),
      reasoning: reasoningOf(body),
      ...(numberOf(limit) === NO_LIMIT ? { isUnlimited: true } : { maxTokens: limit }),
      temperature: number('temperature'),
      topP: number('top_p'),
      topK: number('top_k'),
      stop: stopOf(body['stop']),
      stream: boolean(body['stream']),
      user: textField(body, 'user'),
      further: further.length === 0 ? undefined : Object.fromEntries(further),
    }),
  };
}

/** One chat message as a message of a turn; `at` is its position, for errors. */
export function turnMessage(message: unknown, at: number): TurnMessage {
  const role = textField(message, 'role');
  const where = `messages.${at}`;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: textsOf(message, where) };
    case 'assistant':
      return { role: 'assistant', parts: replyPartsOf(message, at) };
    case 'tool':
    case 'function':
      return {
        role: 'tool',
        callId: textField(message, 'tool_call_id') ?? olderCallId(message, at - 1),
        parts: userPartsOf(message, where),
      };
    default:
      return { role: 'user', parts: userPartsOf(message, where) };
  }
}

function userPartsOf(message: unknown, where: string): readonly UserPart[] {
  const content = fieldOf(message, 'content');
  const images = listField(message, 'images').map((image, at) =>
    imageOf(image, `${where}.images.${at}`),
  );
  if (typeof content === 'string') {
    const said = marked(text(content), message);
    return content === '' && images.length > 0 ? images : [said, ...images];
  }
  const parts = Array.isArray(content) ? content : [];
  return [
    ...parts.map((part, at) => marked(userPart(part, `${where}.content.${at}`), part)),
    ...images,
  ];
}

/** Some clients mark in chat messages what an upstream may cache. */
function marked<Part extends UserPart | AssistantPart>(part: Part, given: unknown): Part {
  const cacheControl = objectField(given, 'cache_control');
  return cacheControl === undefined ? part : { ...part, cacheControl };
}

function userPart(part: unknown, where: string): UserPart {
  const type = textField(part, 'type');
  const plain = textField(part, 'text');
  if (plain !== undefined && (type === 'text' || type === 'input_text')) return text(plain);
  if (type === 'image_url' || type === 'input_image') return imageOf(part, where);
  if (type === 'file') return fileOf(fieldOf(part, 'file'), where);
  if (type === 'input_audio') {
    const audio = fieldOf(part, 'input_audio');
    const data = textField(audio, 'data');
    const format = textField(audio, 'format');
    if (data !== undefined && format !== undefined) return { type: 'audio', data, format };
  }
  throw refused(`${where}: a part of type '${type ?? 'unknown'}' cannot be sent to this model`);
}

/** An `image_url` part, or an element of `images`: a text or an object with base64. */
function imageOf(image: unknown, where: string): UserPart {
  const given = fieldOf(image, 'image_url');
  const url =
    typeof image === 'string' ? image : typeof given === 'string' ? given : textField(given, 'url');
  if (url !== undefined) {
    const detail = textField(given, 'detail');
    const isKnown = detail === 'auto' || detail === 'low' || detail === 'high';
    return { type: 'image', source: sourceOf(url), ...(isKnown ? { detail } : {}) };
  }
  const data = textField(image, 'data_base64') ?? textField(image, 'data');
  if (data === undefined) throw refused(`${where}: an image needs a URL or base64`);
  const mediaType = textField(image, 'media_type') ?? textField(image, 'mime_type');
  const source = sourceOf(data);
  return {
    type: 'image',
    source: source.type === 'data' && mediaType !== undefined ? { ...source, mediaType } : source,
  };
}

/** A URL, a data URL or base64. */
function sourceOf(value: string): MediaSource {
  if (/^https?:/i.test(value)) return { type: 'url', url: value };
  return dataUrl(value) ?? { type: 'data', mediaType: 'image/png', data: value };
}

function fileOf(file: unknown, where: string): UserPart {
  const filename = textField(file, 'filename');
  const name = filename === undefined ? {} : { name: filename };
  const id = textField(file, 'file_id');
  if (id !== undefined) return { type: 'file', source: { type: 'id', id }, ...name };
  const data = textField(file, 'file_data') ?? textField(file, 'file_url');
  if (data === undefined) throw refused(`${where}: a file needs file_data or file_id`);
  if (/^https?:/i.test(data)) return { type: 'file', source: { type: 'url', url: data }, ...name };
  const source = dataUrl(data) ?? {
    type: 'data' as const,
    mediaType: 'application/pdf',
    data,
  };
  return { type: 'file', source, ...name };
}

function textsOf(message: unknown, where: string): readonly TextPart[] {
  return userPartsOf(message, where).map((part) => {
    if (part.type !== 'text') throw refused(`${where}: a system message takes only text`);
    return part;
  });
}

/** Calls of the older form have no id: the result is the next message and has the same name. */
const olderCallId = (called: unknown, at: number): string =>
  `${textField(called, 'name') ?? 'call'}_${at}`;

function replyPartsOf(message: unknown, messageAt: number): readonly AssistantPart[] {
  const where = `messages.${messageAt}`;
  const content = fieldOf(message, 'content');
  const refusal = textField(message, 'refusal');
  const contents: readonly AssistantPart[] = Array.isArray(content)
    ? content.map((part: unknown, at) => marked(replyPart(part, `${where}.content.${at}`), part))
    : typeof content === 'string' && content !== ''
      ? [text(content)]
      : [];
  const legacy = fieldOf(message, 'function_call');
  const calls = listField(message, 'tool_calls').map((call) => toolCallPartOf(call));
  if (legacy !== undefined && legacy !== null) {
    calls.push(toolCallPartOf({ id: olderCallId(legacy, messageAt), function: legacy }));
  }
  return [
    ...reasoningPartsOf(message),
    ...contents,
    ...imagePartsOf(message),
    ...(refusal === undefined || refusal === ''
      ? []
      : [{ type: 'refusal' as const, text: refusal }]),
    ...calls,
  ];
}

function replyPart(part: unknown, where: string): AssistantPart {
  const plain = textField(part, 'text');
  const type = textField(part, 'type');
  if (plain !== undefined && (type === 'text' || type === 'output_text')) return text(plain);
  const refusal = textField(part, 'refusal');
  if (refusal !== undefined) return { type: 'refusal', text: refusal };
  throw refused(`${where}: a part of type '${type ?? 'unknown'}' cannot be sent to this model`);
}

function toolsOf(body: unknown): readonly FunctionTool[] {
  const tools = listField(body, 'tools').map((tool, at) => {
    const declared = fieldOf(tool, 'function');
    if (textField(declared, 'name') === undefined) {
      const type = textField(tool, 'type') ?? 'unknown';
      throw refused(`tools.${at}: a tool of type '${type}' cannot be sent to this model`);
    }
    return { declared, tool };
  });
  const functions = listField(body, 'functions').map((declared) => ({ declared, tool: declared }));
  return [...tools, ...functions].map(({ declared, tool }) => ({
    name: textField(declared, 'name') ?? '',
    ...present({
      description: textField(declared, 'description'),
      parameters: objectField(declared, 'parameters'),
      strict: boolean(fieldOf(declared, 'strict')),
      cacheControl: objectField(tool, 'cache_control') ?? objectField(declared, 'cache_control'),
    }),
  }));
}

/** The tools among which a model may choose. Those that are not allowed are not offered. */
function allowedOf(choice: unknown) {
  if (textField(choice, 'type') !== 'allowed_tools') return undefined;
  const allowed = fieldOf(choice, 'allowed_tools');
  const names = listField(allowed, 'tools').flatMap(
    (tool) => textField(fieldOf(tool, 'function'), 'name') ?? [],
  );
  const mode = fieldOf(allowed, 'mode') === 'required' ? ('required' as const) : ('auto' as const);
  return { names: new Set(names), mode };
}

function toolChoiceOf(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = textField(fieldOf(choice, 'function'), 'name') ?? textField(choice, 'name');
  return name === undefined ? undefined : { name };
}

function outputOf(format: unknown): OutputFormat | undefined {
  const type = textField(format, 'type');
  if (type === 'json_object') return { type };
  const given = fieldOf(format, 'json_schema');
  const schema = objectField(given, 'schema');
  if (type !== 'json_schema' || schema === undefined) return undefined;
  return {
    type,
    name: textField(given, 'name') ?? 'answer',
    schema,
    ...present({
      description: textField(given, 'description'),
      strict: boolean(fieldOf(given, 'strict')),
    }),
  };
}

function reasoningOf(body: unknown): Turn['reasoning'] {
  const options = fieldOf(body, 'reasoning');
  const effort = textField(body, 'reasoning_effort') ?? textField(options, 'effort');
  const budgetTokens = numberField(options, 'max_tokens');
  if (effort === undefined && budgetTokens === undefined) return undefined;
  return present({ effort, budgetTokens });
}

function stopOf(stop: unknown): readonly string[] | undefined {
  if (typeof stop === 'string') return [stop];
  if (!Array.isArray(stop)) return undefined;
  return stop.filter((text): text is string => typeof text === 'string');
}

const text = (value: string): TextPart => ({ type: 'text', text: value });

const boolean = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

function objectField(value: unknown, name: string): Record<string, unknown> | undefined {
  const field = fieldOf(value, name);
  if (typeof field !== 'object' || field === null || Array.isArray(field)) return undefined;
  return Object.fromEntries(Object.entries(field));
}

const refused = (message: string): ServiceError => new ServiceError('invalid_request', message);
