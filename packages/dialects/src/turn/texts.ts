import type { ChangeText, TextSlot } from '@model-gateway/contracts';
import { fieldOf, textField } from './fields.ts';

type Role = TextSlot['role'];

/** Those that other APIs call system, and results of tools, by the names that messages have. */
const ROLES: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};
/** The fields of a part that are texts or have parts, by its type. Thoughts stay as they are: they are signed. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  // The second is of a document's source.
  text: ['text', 'data'],
  content: ['content'],
  input_text: ['text'],
  output_text: ['text'],
  summary_text: ['text'],
  refusal: ['refusal'],
  tool_result: ['content'],
  search_result: ['title', 'source', 'content'],
  document: ['title', 'context', 'source'],
};
/** Of a message of chat completions. */
const MESSAGE_FIELDS = ['content', 'refusal', 'reasoning_content'];

/** A message of any API with its texts changed. */
export function changedMessage<Message extends object>(
  message: Message,
  change: ChangeText,
): Message {
  const role = ROLES[textField(message, 'role') ?? 'user'] ?? 'user';
  return changedFields(message, MESSAGE_FIELDS, role, change);
}

/** A text, or parts of which some are texts and some have parts, such as the result of a tool. */
export function changedContent<Content>(content: Content, role: Role, change: ChangeText): Content;
export function changedContent(content: unknown, role: Role, change: ChangeText): unknown {
  if (typeof content === 'string') return change({ role, text: content });
  if (Array.isArray(content))
    return content.map((part: unknown) => changedContent(part, role, change));
  if (typeof content !== 'object' || content === null) return content;
  const type = textField(content, 'type') ?? '';
  const names = Object.hasOwn(FIELDS, type) ? FIELDS[type] : undefined;
  return changedFields(content, names ?? [], type === 'tool_result' ? 'tool' : role, change);
}

/** An object with some of its fields changed. */
export function changedFields<Value extends object>(
  value: Value,
  names: readonly string[],
  role: Role,
  change: ChangeText,
): Value {
  const changed = names.flatMap((name) => {
    const content = fieldOf(value, name);
    if (content === undefined || content === null) return [];
    return [[name, changedContent(content, role, change)] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}
