import { originIn, RESPONSES_API, turnMessage } from '@model-gateway/dialects';
import type { UpstreamChat } from '@model-gateway/router';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The request of a client of the Responses API, as it sent it; undefined for a client of another API. What the gateway
 * added, such as memories, comes first. The gateway itself stores responses.
 */
export function responsesBody(
  chat: UpstreamChat,
  { stream }: { readonly stream: boolean },
): Fields | undefined {
  const original = originIn(RESPONSES_API, chat);
  if (original === undefined) return undefined;
  const input = [...addedItems(chat['messages']), ...listOf(original['input'])];
  return { ...original, model: chat.model, input, store: false, stream };
}

function addedItems(messages: unknown): readonly Fields[] {
  return listOf(messages).flatMap((message, at) => {
    if (typeof message !== 'object' || message === null) return [];
    return originIn(RESPONSES_API, message) === undefined ? [itemOf(message, at)] : [];
  });
}

function itemOf(message: object, at: number): Fields {
  const { role, parts } = turnMessage(message, at);
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
