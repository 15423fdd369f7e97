import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import type { ChatMessage } from './chat-turn.ts';

/** What the panel of the playground sets. */
export interface ChatSettings {
  readonly model: string;
  readonly system: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  /** Declarations in the form of the chat-completions API. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** The JSON schema that the answer has to match. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Where the turns are kept on the server. */
  readonly conversationId?: string | undefined;
}

/** A question with its answer, as far as later turns need them. */
export interface EarlierTurn {
  readonly question: string;
  readonly images: readonly string[];
  readonly answer: string;
}

/** The messages of the turns so far, as the model gets them. */
export function messagesOf(
  system: string,
  turns: readonly EarlierTurn[],
  question: string,
  images: readonly string[] = [],
): readonly ChatMessage[] {
  const asked = (content: string, attached: readonly string[]): ChatMessage => ({
    role: 'user',
    content,
    ...(attached.length === 0 ? {} : { images: attached }),
  });
  return [
    ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
    ...turns.flatMap((turn) => [
      asked(turn.question, turn.images),
      { role: 'assistant' as const, content: turn.answer },
    ]),
    asked(question, images),
  ];
}

/** The request of a turn. The server knows the earlier turns of a conversation itself. */
export function requestOf(
  settings: ChatSettings,
  earlier: readonly EarlierTurn[],
  question: string,
  images: readonly string[],
): Omit<RpcInput<'chat.send'>, 'ref_id'> {
  const { model, system, temperature, maxTokens, tools, schema, conversationId } = settings;
  const isStored = conversationId !== undefined;
  const turns = isStored ? [] : earlier;
  const prompt = isStored && earlier.length > 0 ? '' : system;
  return {
    model,
    messages: messagesOf(prompt, turns, question, images).map((message) => ({ ...message })),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ ...tool })) }),
    ...(schema === undefined ? {} : { extra: { response_format: responseFormat(schema) } }),
    ...(isStored ? { conversation_id: conversationId } : {}),
  };
}

/** The parameter for answers that match a JSON schema. */
export const responseFormat = (schema: Readonly<Record<string, unknown>>) => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema, strict: true },
});

type Message = RpcResult<'conversations.get'>['messages'][number];

/** The messages of a stored conversation as turns; an answer without a question has an empty one. */
export function storedTurns(
  messages: readonly Pick<Message, 'role' | 'content' | 'model'>[],
): readonly (EarlierTurn & { readonly model: string })[] {
  const turns: (EarlierTurn & { readonly model: string })[] = [];
  for (const { role, content, model = '' } of messages) {
    const last = turns.at(-1);
    if (role === 'user') turns.push({ question: content, images: [], answer: '', model });
    else if (role === 'assistant' && last !== undefined && last.answer === '')
      turns[turns.length - 1] = { ...last, answer: content, model };
    else if (role === 'assistant') turns.push({ question: '', images: [], answer: content, model });
  }
  return turns;
}

/** A field with JSON: undefined where it is empty, a problem where it is none. */
export function jsonOf(
  text: string,
  kind: 'object' | 'array',
): { readonly value?: unknown; readonly isWrong: boolean } {
  if (text.trim() === '') return { isWrong: false };
  try {
    const value: unknown = JSON.parse(text);
    const isKind =
      kind === 'array' ? Array.isArray(value) : typeof value === 'object' && value !== null;
    return isKind ? { value, isWrong: false } : { isWrong: true };
  } catch {
    return { isWrong: true };
  }
}
