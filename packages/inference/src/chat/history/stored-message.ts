import type { NewMessage } from '@model-gateway/accounts';
import type { ChatMessage } from '@model-gateway/contracts';
import { messageText } from '../message-text.ts';
import type { Reply } from './reply-collector.ts';

const ROLES: ReadonlySet<string> = new Set<ChatMessage['role']>([
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
  'function',
]);

/** A message of a client as it is stored: its text, and the other fields that a model needs later. */
export function toStored(message: ChatMessage): NewMessage {
  const { role, content, images, tool_calls, ...others } = message;
  const extra = Array.isArray(content) ? { ...others, content } : others;
  return {
    role,
    content: messageText(message),
    ...(Array.isArray(images) ? { images } : {}),
    ...(Array.isArray(tool_calls) ? { toolCalls: tool_calls } : {}),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** A reply as it is stored. */
export function toStoredReply({ content, toolCalls }: Reply, model: string): NewMessage {
  return { role: 'assistant', content, model, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}

/** The stored messages for a model, from the first one that can start a conversation. */
export function toHistory(stored: readonly NewMessage[]): readonly ChatMessage[] {
  // Older messages may have been cut off: upstreams reject a reply or a tool result without its request.
  const first = stored.findIndex(({ role }) => role !== 'assistant' && !isResultRole(role));
  return first === -1 ? [] : stored.slice(first).flatMap(toChatMessage);
}

function toChatMessage({ role, content, images, toolCalls, extra }: NewMessage): ChatMessage[] {
  if (!isRole(role)) return [];
  return [
    {
      role,
      content: content === '' && toolCalls !== undefined ? null : content,
      ...(images === undefined ? {} : { images }),
      ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
      ...extra,
    },
  ];
}

/** Whether a message of this role is the result of a call. `function` is the older form of `tool`. */
export const isResultRole = (role: string): boolean => role === 'tool' || role === 'function';

const isRole = (role: string): role is ChatMessage['role'] => ROLES.has(role);
