import {
  chatRequestSchema,
  type AnswerPart,
  type ChangeText,
  type ChatRequest,
  type RestErrorBody,
} from '@model-gateway/contracts';
import type {
  AnswerWriter,
  Dialect,
  DialectRequest,
  StreamFailure,
  StreamHead,
} from '../dialect.ts';
import { DONE, KEEP_ALIVE } from '../event-marks.ts';
import { fieldOf } from '../turn/fields.ts';
import { changedMessage } from '../turn/texts.ts';
import { CHAT_API } from '../turn/upstream-turn.ts';
import { ChatWriter } from './write-stream.ts';

/** `POST /v1/chat/completions`. */
export const chatDialect: Dialect = {
  api: CHAT_API,
  request: chatRequestSchema.transform((chat): DialectRequest => ({
    model: chat.model,
    models: chat.models,
    chat,
    ignored: [],
  })),
  edited: ({ chat, ...request }, change) => ({ ...request, chat: editedChat(chat, change) }),
  isFailureEnough: false,
  answer: ({ text, completion }) => ({ body: completion, text, ignored: [] }),
  stream: ({ chat }) => new ChatAnswerWriter(asksForUsage(chat)),
};

/** A chat request with other texts. */
const editedChat = (chat: ChatRequest, change: ChangeText): ChatRequest => ({
  ...chat,
  messages: chat.messages.map((message) => changedMessage(message, change)),
});

/** Whether a request asks for the chunk with the usage. */
export const asksForUsage = (body: object): boolean =>
  fieldOf(fieldOf(body, 'stream_options'), 'include_usage') === true;

/** The last event of a stream that is not whole. */
export function chatErrorEvent(message: string, code: string): string {
  const error = { message, type: 'server_error', code, param: null };
  return `data: ${JSON.stringify({ error } satisfies RestErrorBody)}\n\n`;
}

/** Writes the parts of upstreams of other APIs; the events of its own pass as they are. */
class ChatAnswerWriter implements AnswerWriter {
  readonly ignored = [];
  readonly #hasUsage: boolean;
  /** Undefined until the first part: events of an upstream of the same API pass as they are. */
  #writer: ChatWriter | undefined;
  #head: StreamHead | undefined;

  constructor(hasUsage: boolean) {
    this.#hasUsage = hasUsage;
  }

  begin(head: StreamHead): string {
    this.#head = head;
    return '';
  }

  alive(): string {
    return KEEP_ALIVE;
  }

  write(part: AnswerPart): string {
    this.#writer ??= this.#head && writerFor(this.#head);
    const chunks = this.#writer?.chunksOf(part) ?? [];
    return chunks.map((chunk) => this.#eventOf(chunk)).join('');
  }

  answer(): undefined {
    return undefined;
  }

  end(): string {
    return DONE;
  }

  fail({ message, code = 'bad_gateway' }: StreamFailure): string {
    return chatErrorEvent(message, code);
  }

  #eventOf(chunk: Readonly<Record<string, unknown>>): string {
    if (this.#hasUsage) return `data: ${JSON.stringify(chunk)}\n\n`;
    const { usage, ...rest } = chunk;
    if (!isEmptyUsage(usage) && isWithoutChoices(chunk)) return '';
    return `data: ${JSON.stringify('usage' in chunk ? rest : chunk)}\n\n`;
  }
}

const writerFor = ({ id, model, created }: StreamHead): ChatWriter =>
  new ChatWriter({ id, object: 'chat.completion.chunk', created, model });

const isEmptyUsage = (usage: unknown): boolean => usage === undefined || usage === null;

function isWithoutChoices(chunk: Readonly<Record<string, unknown>>): boolean {
  const { choices } = chunk;
  return !Array.isArray(choices) || choices.length === 0;
}
