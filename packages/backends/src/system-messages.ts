import { CHAT_API } from '@model-gateway/dialects';
import type { UpstreamChat, UpstreamTurn } from '@model-gateway/contracts';
import type { AdaptedChat } from './adapted-chat.ts';
import { isFields, type Fields } from './fields.ts';

const BREAK = '\n\n';
const ROLE = 'messages.role';

/** A chat with one system message at most, at the beginning; later ones are the user's. The same body if it has no others. */
export function withOneSystemMessage(body: UpstreamChat): AdaptedChat {
  const messages = listOf(body);
  const first = messages.findIndex((message) => !isSystem(message));
  const leading = first === -1 ? messages : messages.slice(0, first);
  const later = first === -1 ? [] : messages.slice(first);
  const isChanged = later.some(isSystem);
  if (leading.length < 2 && !isChanged) return { body, ignored: [] };
  return {
    body: { ...body, messages: [...joined(leading), ...asUser(later)] },
    ignored: isChanged ? [ROLE] : [],
  };
}

/**
 * The chat of a turn, with the instructions of a client of another API in one: agents send several, which many templates
 * refuse. What the gateway added, such as memories, is no message of the client.
 */
export function withOneInstruction({ api, chat: body, added: start }: UpstreamTurn): UpstreamChat {
  if (api === CHAT_API) return body;
  const messages = listOf(body);
  const other = messages.slice(start).findIndex((message) => !isSystem(message));
  const end = other === -1 ? messages.length : start + other;
  if (end - start < 2) return body;
  const one = joined(messages.slice(start, end));
  return { ...body, messages: [...messages.slice(0, start), ...one, ...messages.slice(end)] };
}

const isSystem = (message: unknown): boolean =>
  isFields(message) && (message['role'] === 'system' || message['role'] === 'developer');

function joined(messages: readonly unknown[]): readonly unknown[] {
  const [first, ...others] = messages.filter(isFields);
  if (first === undefined) return [];
  return [others.reduce<Fields>(withMore, first)];
}

/** Messages with the roles that every template knows. */
function asUser(messages: readonly unknown[]): readonly unknown[] {
  const written: unknown[] = [];
  let wasSystem = false;
  for (const message of messages) {
    const last = written.at(-1);
    const isChanged = isSystem(message);
    const said = isChanged && isFields(message) ? { ...message, role: 'user' } : message;
    const isSame =
      isFields(last) && isFields(said) && last['role'] === 'user' && said['role'] === 'user';
    if (isSame && (isChanged || wasSystem)) written[written.length - 1] = withMore(last, said);
    else written.push(said);
    wasSystem = isChanged;
  }
  return written;
}

/** A message with the content of the next one. */
function withMore(message: Fields, { content: more }: Fields): Fields {
  const { content } = message;
  if (typeof content === 'string' && typeof more === 'string')
    return { ...message, content: content + BREAK + more };
  return { ...message, content: [...partsOf(content), ...partsOf(more)] };
}

function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

const listOf = ({ messages }: UpstreamChat): readonly unknown[] =>
  Array.isArray(messages) ? messages : [];
