import type { AssistantPart, TextPart, TurnMessage, UserPart } from '@model-gateway/contracts';
import { withCallSignatures } from '../turn/call-signatures.ts';
import { dataUrl } from '../turn/data-url.ts';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';
import { withMediaAfterResults } from '../turn/result-media.ts';
import type { Item } from './body.ts';
import { FieldProblem, type Path } from './field-problem.ts';
import type { Ignored } from './ignored.ts';
import { openReasoning } from './reasoning-content.ts';
import { functionName } from './tools.ts';

/** Records of hosted tools, which a model need not see again. */
const LEFT_OUT = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
  'mcp_list_tools',
]);

/** The items of an input as messages of a turn. */
export function messagesOf(items: readonly Item[], ignored: Ignored, at: Path): TurnMessage[] {
  const shellCalls = shellCallsOf(items);
  const messages: TurnMessage[] = [];
  let reply: AssistantPart[] = [];

  function endReply(): void {
    if (reply.length > 0) messages.push({ role: 'assistant', parts: withCallSignatures(reply) });
    reply = [];
  }

  for (const [index, item] of items.entries()) {
    const path = [...at, index];
    const replied = replyParts(item, path, ignored);
    if (replied !== undefined) {
      // Two messages of a model stay two; a call and its text belong to one, because results must follow it.
      const isFull = has(reply, 'text') && !has(reply, 'tool_call') && has(replied, 'text');
      if (isFull) endReply();
      reply.push(...replied);
      continue;
    }
    endReply();
    messages.push(messageOf(item, path, shellCalls));
  }
  endReply();
  return withMediaAfterResults(messages);
}

const has = (parts: readonly AssistantPart[], type: AssistantPart['type']): boolean =>
  parts.some((part) => part.type === type);

/** An output of a local shell names its call by the id of the item. */
function shellCallsOf(items: readonly Item[]): ReadonlyMap<string, string> {
  const calls = items.filter((item) => item['type'] === 'local_shell_call');
  return new Map(
    calls.map((item) => [textField(item, 'id') ?? '', textField(item, 'call_id') ?? '']),
  );
}

/** What an item adds to the reply of the model; undefined for an item of someone else. */
function replyParts(
  item: Item,
  path: Path,
  ignored: Ignored,
): readonly AssistantPart[] | undefined {
  const type = typeOf(item);
  const call = (given: string, name = calledName(item, path)) => [
    { type: 'tool_call' as const, id: required(item, 'call_id', path), name, arguments: given },
  ];
  switch (type) {
    case 'message':
      return item['role'] === 'assistant' ? assistantParts(item, path) : undefined;
    case 'reasoning':
      return reasoningParts(item, ignored);
    case 'function_call':
      return call(required(item, 'arguments', path));
    case 'custom_tool_call':
      return call(JSON.stringify({ input: required(item, 'input', path) }));
    case 'local_shell_call': {
      const { type: _type, ...action } = { type: null, ...objectOf(item['action']) };
      return call(JSON.stringify(action), 'local_shell');
    }
    default:
      if (!LEFT_OUT.has(type)) return undefined;
      ignored.add(`input.${type}`);
      return [];
  }
}

const calledName = (item: Item, path: Path): string =>
  functionName(required(item, 'name', path), textField(item, 'namespace'));

/** Items without a type are messages or references. */
export const typeOf = (item: Item): string =>
  textField(item, 'type') ?? ('role' in item ? 'message' : 'item_reference');

function messageOf(item: Item, path: Path, shellCalls: ReadonlyMap<string, string>): TurnMessage {
  const type = typeOf(item);
  switch (type) {
    case 'message':
      return item['role'] === 'user'
        ? { role: 'user', parts: userParts(item['content'], [...path, 'content']) }
        : { role: 'system', parts: systemParts(item, path) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        role: 'tool',
        callId: required(item, 'call_id', path),
        parts: userParts(item['output'], [...path, 'output']),
      };
    case 'local_shell_call_output': {
      const id = textField(item, 'call_id') ?? required(item, 'id', path);
      const parts = userParts(item['output'], [...path, 'output']);
      return { role: 'tool', callId: shellCalls.get(id) ?? id, parts };
    }
    default:
      throw new FieldProblem([...path, 'type'], `items of type '${type}' cannot be translated`);
  }
}

function systemParts(item: Item, path: Path): readonly TextPart[] {
  const { role } = item;
  if (role !== 'system' && role !== 'developer') {
    throw new FieldProblem([...path, 'role'], 'must be user, assistant, system or developer');
  }
  return userParts(item['content'], [...path, 'content']).map((part, at) => {
    if (part.type === 'text') return part;
    throw new FieldProblem([...path, 'content', at], `a message of a ${role} takes only text`);
  });
}

function userParts(content: unknown, path: Path): readonly UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw new FieldProblem(path, 'must be a text or a list of parts');
  return content.map((part: unknown, at) => userPart(part, [...path, at]));
}

function userPart(part: unknown, path: Path): UserPart {
  const type = textField(part, 'type');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: required(part, 'text', path) };
    case 'input_image':
      return imagePart(part, path);
    case 'input_file':
      return filePart(part, path);
    case 'input_audio': {
      const audio = fieldOf(part, 'input_audio');
      const at = [...path, 'input_audio'];
      return {
        type: 'audio',
        data: required(audio, 'data', at),
        format: required(audio, 'format', at),
      };
    }
    default:
      throw new FieldProblem(
        [...path, 'type'],
        `parts of type '${type ?? ''}' cannot be translated`,
      );
  }
}

function imagePart(part: unknown, path: Path): UserPart {
  const url = textField(part, 'image_url');
  if (url === undefined) {
    throw new FieldProblem([...path, 'image_url'], 'required: the gateway stores no files');
  }
  const detail = DETAILS.get(textField(part, 'detail') ?? '');
  const source = dataUrl(url) ?? { type: 'url' as const, url };
  return { type: 'image', source, ...(detail === undefined ? {} : { detail }) };
}

const DETAILS: ReadonlyMap<string, 'auto' | 'low' | 'high'> = new Map([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'high'],
]);

function filePart(part: unknown, path: Path): UserPart {
  const name = present({ name: textField(part, 'filename') });
  const url = textField(part, 'file_url');
  if (url !== undefined) return { type: 'file', source: { type: 'url', url }, ...name };
  const id = textField(part, 'file_id');
  if (id !== undefined) return { type: 'file', source: { type: 'id', id }, ...name };
  const data = required(part, 'file_data', path);
  const source = dataUrl(data) ?? { type: 'data' as const, mediaType: 'application/pdf', data };
  return { type: 'file', source, ...name };
}

function assistantParts(item: Item, path: Path): readonly AssistantPart[] {
  const { content } = item;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    throw new FieldProblem([...path, 'content'], 'must be a text or a list of parts');
  }
  return content.map((part: unknown, at): AssistantPart => {
    const where = [...path, 'content', at];
    const type = textField(part, 'type');
    if (type === 'refusal') return { type, text: required(part, 'refusal', where) };
    const read = userPart(part, where);
    if (read.type === 'text') return read;
    throw new FieldProblem(where, 'a message of the assistant takes only texts and refusals');
  });
}

function reasoningParts(item: Item, ignored: Ignored): readonly AssistantPart[] {
  const sealed = textField(item, 'encrypted_content');
  const opened = sealed === undefined ? undefined : openReasoning(sealed);
  if (opened !== undefined) return opened;
  // Only the service that wrote it can read it.
  if (sealed !== undefined) ignored.add('input.encrypted_content');
  const contents = listField(item, 'content');
  const texts = contents.length > 0 ? contents : listField(item, 'summary');
  const text = texts.map((part) => textField(part, 'text') ?? '').join('\n\n');
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

function required(value: unknown, name: string, path: Path): string {
  const text = textField(value, name);
  if (text === undefined) throw new FieldProblem([...path, name], 'must be a text');
  return text;
}

const objectOf = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {};
