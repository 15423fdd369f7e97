import {
  ServiceError,
  type AssistantPart,
  type MediaSource,
  type SystemMessage,
  type TextPart,
  type ToolMessage,
  type TurnMessage,
  type UserPart,
} from '@model-gateway/contracts';
import { openCallSignature, withCallSignatures } from '../turn/call-signatures.ts';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';
import { TOOL_ERROR } from '../turn/upstream-turn.ts';
import { withMediaAfterResults } from '../turn/result-media.ts';

interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly unknown[];
}

/** Blocks of tools that ran at the provider; other upstreams do not know them. */
const PROVIDER_BLOCK =
  /^(server_tool_use|mcp_tool_use|container_upload|compaction|.+_tool_result)$/;

/** What of a request is left out, by name. */
export interface LeftOut {
  /** For every upstream. */
  readonly ignored: Set<string>;
  /** Only for those of chat completions. */
  readonly lost: Set<string>;
}

/** The system prompt, a text or blocks, as a message. */
export function systemMessages(system: Message['content'] | null | undefined): SystemMessage[] {
  if (system === undefined || system === null || system.length === 0) return [];
  return [{ role: 'system', parts: textsOf(system, 'system') }];
}

/** The messages of a turn that one message becomes: the results of tools come first. */
export function turnMessages(
  { role, content }: Message,
  where: string,
  { ignored, lost }: LeftOut,
): readonly TurnMessage[] {
  if (role === 'system') return [{ role, parts: textsOf(content, `${where}.content`) }];
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'assistant') {
    const parts = blocks.flatMap((block, at) => replyPart(block, at, where, ignored));
    return [{ role, parts: withCallSignatures(parts) }];
  }
  const results: ToolMessage[] = [];
  const parts: UserPart[] = [];
  blocks.forEach((block, at) => {
    noteLost(block, lost);
    if (textField(block, 'type') === 'tool_result')
      results.push(toolResult(block, `${where}.content.${at}`));
    else parts.push(...userParts(block, `${where}.content.${at}`));
  });
  return parts.length === 0 && results.length > 0
    ? withMediaAfterResults(results)
    : withMediaAfterResults([...results, { role, parts }]);
}

/** Names what chat completions cannot say about a block, also about those inside the result of a tool. */
function noteLost(block: unknown, lost: Set<string>): void {
  const type = textField(block, 'type');
  if (type === 'tool_result') {
    if (fieldOf(block, 'is_error') === true) lost.add(TOOL_ERROR);
    for (const part of listField(block, 'content')) noteLost(part, lost);
  } else if (type === 'document') {
    if (fieldOf(fieldOf(block, 'citations'), 'enabled') === true) lost.add('document.citations');
  }
}

function toolResult(block: unknown, where: string): ToolMessage {
  const content = fieldOf(block, 'content');
  const parts =
    typeof content === 'string'
      ? [text(content)]
      : listField(block, 'content').flatMap((part, at) =>
          userParts(part, `${where}.content.${at}`),
        );
  return {
    role: 'tool',
    callId: idOf(block, 'tool_use_id', where),
    parts: parts.length === 0 ? [text('')] : parts,
    ...(fieldOf(block, 'is_error') === true ? { isError: true } : {}),
  };
}

function userParts(block: unknown, where: string): readonly UserPart[] {
  const type = textField(block, 'type');
  switch (type) {
    case 'text':
      return [textOf(block, where)];
    case 'image':
      return [{ type: 'image', source: imageSource(fieldOf(block, 'source'), where) }];
    case 'document':
      return documentParts(block, where);
    case 'search_result':
      return [text(searchResult(block))];
    case 'tool_reference':
      return [text(textField(block, 'tool_name') ?? '')];
    default:
      throw refused(`${where}.type: '${type ?? ''}' is not a block that can be sent`);
  }
}

function imageSource(source: unknown, where: string): MediaSource {
  const url = textField(source, 'url');
  if (url !== undefined) return { type: 'url', url };
  const data = textField(source, 'data');
  const mediaType = textField(source, 'media_type');
  if (data !== undefined && mediaType !== undefined) return { type: 'data', mediaType, data };
  throw refused(
    `${where}.source: must be base64 or a URL; files of another provider cannot be read`,
  );
}

/** A document, after what the client says about it. */
function documentParts(block: unknown, where: string): readonly UserPart[] {
  const context = textField(block, 'context');
  const parts = sourceParts(block, where);
  return context ? [text(context), ...parts] : parts;
}

function sourceParts(block: unknown, where: string): readonly UserPart[] {
  const source = fieldOf(block, 'source');
  const title = textField(block, 'title');
  const name = present({ name: title });
  const given = (field: string) => stringOf(source, field, `${where}.source`);
  switch (textField(source, 'type')) {
    case 'base64': {
      const mediaType = textField(source, 'media_type') ?? 'application/pdf';
      return [{ type: 'file', source: { type: 'data', mediaType, data: given('data') }, ...name }];
    }
    case 'url':
      return [{ type: 'file', source: { type: 'url', url: given('url') }, ...name }];
    case 'text': {
      const data = given('data');
      return [text(title === undefined ? data : `${title}\n\n${data}`)];
    }
    case 'content': {
      const content = fieldOf(source, 'content');
      if (typeof content === 'string') return [text(content)];
      return listField(source, 'content').flatMap((part, at) =>
        userParts(part, `${where}.source.content.${at}`),
      );
    }
    default:
      throw refused(`${where}.source: files of another provider cannot be read`);
  }
}

function searchResult(block: unknown): string {
  const texts = listField(block, 'content').map((part) => textField(part, 'text') ?? '');
  return [textField(block, 'title') ?? '', textField(block, 'source') ?? '', ...texts].join('\n');
}

function replyPart(
  block: unknown,
  at: number,
  where: string,
  ignored: Set<string>,
): readonly AssistantPart[] {
  const type = textField(block, 'type') ?? '';
  const path = `${where}.content.${at}`;
  switch (type) {
    case 'text':
      return [textOf(block, path)];
    case 'thinking': {
      // Empty where the backend that thought it has no signatures.
      const signature = textField(block, 'signature') || undefined;
      const ofCall = signature === undefined ? undefined : openCallSignature(signature);
      if (ofCall !== undefined) return [{ type: 'reasoning', text: '', ...ofCall }];
      const thought = textField(block, 'thinking') ?? '';
      return [{ type: 'reasoning', text: thought, ...present({ signature }) }];
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', encrypted: textField(block, 'data') ?? '' }];
    case 'tool_use':
      return [
        {
          type: 'tool_call',
          id: idOf(block, 'id', path),
          name: idOf(block, 'name', path),
          arguments: JSON.stringify(inputOf(block, path)),
        },
      ];
    default:
      if (!PROVIDER_BLOCK.test(type)) {
        throw refused(`${path}.type: '${type}' is not a block that can be sent`);
      }
      ignored.add(type);
      return [];
  }
}

function textsOf(content: Message['content'], where: string): readonly TextPart[] {
  if (typeof content === 'string') return [text(content)];
  return content.map((block, at) => {
    if (textField(block, 'type') !== 'text') throw refused(`${where}.${at}.type: must be text`);
    return textOf(block, `${where}.${at}`);
  });
}

const textOf = (block: unknown, where: string): TextPart => text(stringOf(block, 'text', where));

function inputOf(block: unknown, where: string): object {
  const input = fieldOf(block, 'input');
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  throw refused(`${where}.input: must be an object`);
}

function stringOf(block: unknown, field: string, where: string): string {
  const value = textField(block, field);
  if (value === undefined) throw refused(`${where}.${field}: must be a text`);
  return value;
}

function idOf(block: unknown, field: string, where: string): string {
  const value = stringOf(block, field, where);
  if (value === '') throw refused(`${where}.${field}: must not be empty`);
  return value;
}

const text = (value: string): TextPart => ({ type: 'text', text: value });

const refused = (message: string): ServiceError => new ServiceError('invalid_request', message);
