import type { ChangeText, TextSlot } from '@model-gateway/contracts';
import { fieldOf, textField } from './fields.ts';

type Role = TextSlot['role'];
type Fields = Readonly<Record<string, unknown>>;

/** Those that other APIs call system, and results of tools, by the names that messages have. */
const ROLES: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};
const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

/** A message of any API with its texts changed. */
export function changedMessage<Message extends object>(
  message: Message,
  change: ChangeText,
): Message {
  const content: unknown = fieldOf(message, 'content');
  const role = ROLES[textField(message, 'role') ?? 'user'] ?? 'user';
  return content === undefined
    ? message
    : { ...message, content: changedContent(content, role, change) };
}

/** A text, or parts of which some are texts and some have parts, such as the result of a tool. */
export function changedContent<Content>(content: Content, role: Role, change: ChangeText): Content;
export function changedContent(content: unknown, role: Role, change: ChangeText): unknown {
  if (typeof content === 'string') return change({ role, text: content });
  if (!Array.isArray(content)) return content;
  return content.map((part: unknown) => {
    const type = fieldOf(part, 'type');
    if (TEXT_TYPES.has(type)) return changedField(part, 'text', role, change);
    return type === 'tool_result' ? changedField(part, 'content', 'tool', change) : part;
  });
}

/** An object with the content of a field changed. */
export function changedField(value: unknown, name: string, role: Role, change: ChangeText): Fields {
  const content: unknown = fieldOf(value, name);
  const fields: Fields = { ...(value as Fields) };
  return content === undefined
    ? fields
    : { ...fields, [name]: changedContent(content, role, change) };
}
