import type {
  ChatMessage,
  Turn,
  TurnMessage,
  UpstreamChat,
  UpstreamTurn,
} from '@model-gateway/contracts';
import { turnMessage, turnOfChat } from '../chat/read-request.ts';
import type { OwnRequest } from '../dialect.ts';

/** The name of chat completions among the APIs. */
export const CHAT_API = 'chat';
/** The name of a failed tool's result among what chat completions cannot say. */
export const TOOL_ERROR = 'tool_result.is_error';
const NOTHING: readonly string[] = [];

/** A turn of a client of chat completions. `added` counts the messages that the gateway put first. */
export const chatTurn = (chat: UpstreamChat, added = 0): UpstreamTurn => new ChatTurn(chat, added);

interface OwnTurnOptions {
  /** As the backend lists it. */
  readonly model: string;
  /** The messages that the gateway put first. */
  readonly added: readonly ChatMessage[];
  /** The whole request as chat completions. */
  readonly chat: () => UpstreamChat;
}

/** A turn of a client of another API. */
export const ownTurn = (request: OwnRequest, options: OwnTurnOptions): UpstreamTurn =>
  new OwnTurn(request, options);

class ChatTurn implements UpstreamTurn {
  readonly api = CHAT_API;
  readonly lost = NOTHING;
  readonly chat: UpstreamChat;
  readonly added: number;
  #turn: Turn | undefined;

  constructor(chat: UpstreamChat, added: number) {
    this.chat = chat;
    this.added = added;
  }

  get model(): string {
    return this.chat.model;
  }

  get own(): UpstreamChat {
    return this.chat;
  }

  get turn(): Turn {
    this.#turn ??= turnOfChat(this.chat);
    return this.#turn;
  }
}

class OwnTurn implements UpstreamTurn {
  readonly api: string;
  readonly model: string;
  readonly lost: readonly string[];
  readonly #request: OwnRequest;
  readonly #options: OwnTurnOptions;
  #chat: UpstreamChat | undefined;
  #turn: Turn | undefined;

  constructor(request: OwnRequest, options: OwnTurnOptions) {
    this.api = request.api;
    this.model = options.model;
    this.lost = request.lost;
    this.#request = request;
    this.#options = options;
  }

  get added(): number {
    return this.#options.added.length;
  }

  get own(): Readonly<Record<string, unknown>> {
    return this.#request.bodyWith(this.#addedMessages);
  }

  get chat(): UpstreamChat {
    this.#chat ??= this.#options.chat();
    return this.#chat;
  }

  /** The options are read from the chat body, because `extra` can set them. */
  get turn(): Turn {
    this.#turn ??= {
      ...turnOfChat({ ...this.chat, messages: [] }),
      messages: [...this.#addedMessages, ...this.#request.messages],
    };
    return this.#turn;
  }

  get #addedMessages(): readonly TurnMessage[] {
    return this.#options.added.map(turnMessage);
  }
}
