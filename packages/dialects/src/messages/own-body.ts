import type { TurnMessage } from '@model-gateway/contracts';
import { GATEWAY_FIELDS } from '../gateway-fields.ts';
import { isSealed } from '../turn/call-signatures.ts';
import { fieldOf, textField } from '../turn/fields.ts';

type Fields = Readonly<Record<string, unknown>>;

interface MessagesBody extends Fields {
  readonly messages: readonly Fields[];
}

/** A body for an upstream of this API. What the gateway added, such as memories, becomes a part of the system prompt. */
export function ownBody(
  { messages, system, ...others }: MessagesBody,
  added: readonly TurnMessage[],
): Fields {
  const notes = added
    .filter(({ role }) => role === 'system')
    .map((message) => textBlock(textOf(message)));
  const said = added.filter(({ role }) => role !== 'system');
  const prompt = [...systemBlocks(system), ...notes];
  const kept = Object.entries(others).filter(
    ([name, value]) => value !== null && (name === 'model' || !GATEWAY_FIELDS.has(name)),
  );
  return {
    ...Object.fromEntries(kept),
    messages: [...said.map(messageOf), ...messages.map(withoutForeignThoughts)],
    ...(prompt.length === 0 ? {} : { system: prompt }),
  };
}

const textOf = ({ parts }: TurnMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

const messageOf = (message: TurnMessage): Fields => ({
  role: message.role === 'assistant' ? 'assistant' : 'user',
  content: textOf(message),
});

/** The API refuses thoughts without a signature of its own, which the Messages API of the gateway gives to those of other backends. */
function withoutForeignThoughts(message: Fields): Fields {
  const { content } = message;
  if (!Array.isArray(content) || !content.some(isForeignThought)) return message;
  return { ...message, content: content.filter((block) => !isForeignThought(block)) };
}

const isForeignThought = (block: unknown): boolean =>
  fieldOf(block, 'type') === 'thinking' && !isOwnSignature(textField(block, 'signature') ?? '');

const isOwnSignature = (signature: string): boolean => signature !== '' && !isSealed(signature);

function systemBlocks(system: unknown): readonly unknown[] {
  if (typeof system === 'string') return system === '' ? [] : [textBlock(system)];
  return Array.isArray(system) ? system : [];
}

const textBlock = (text: string) => ({ type: 'text', text });
