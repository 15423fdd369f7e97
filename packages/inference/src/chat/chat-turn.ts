import type {
  ChangeText,
  ChatMessage,
  ChatRequest,
  UpstreamChat,
  UpstreamTurn,
} from '@model-gateway/contracts';
import {
  chatDialect,
  chatTurn,
  type Dialect,
  type DialectRequest,
  ownTurn,
  UNSENT_FIELDS,
} from '@model-gateway/dialects';
import type { Clock, Log } from '@model-gateway/kernel';
import { type Lease, UnsupportedByBackend } from '@model-gateway/router';
import type { EditableCall, EndedCall, Hook, HookedCall } from '../call/call.ts';
import { HeldAnswer } from '../call/held-answer.ts';
import type { CallServices, RunningCall } from '../call/run-call.ts';
import type { MemoryState } from '../memory/memory.ts';
import { hasMedia } from '../upstream/has-media.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import type { Caller } from './caller.ts';

/** What serving a turn needs, besides what serving any call does. */
export interface TurnServices extends Pick<CallServices, 'meter'> {
  readonly clock: Clock;
  readonly log: Log;
}

interface TurnOptions<Request extends DialectRequest> {
  readonly request: Request;
  readonly dialect: Pick<Dialect<Request>, 'edited'>;
  readonly conversation: EditableCall['conversation'];
}

type TurnCall = Pick<RunningCall, 'caller' | 'signal' | 'onEnd' | 'attempt' | 'settle'>;

/** A chat turn that hooks have prepared: it can be routed. */
export class ChatTurn<Request extends DialectRequest = DialectRequest> implements EditableCall {
  readonly call: TurnCall;
  readonly conversation: EditableCall['conversation'];
  memory: MemoryState = 'disabled';
  readonly #dialect: TurnOptions<Request>['dialect'];
  #request: Request;
  /** What hooks put before the messages of the client. */
  #added: readonly ChatMessage[] = [];
  readonly #hooked: HookedCall[] = [];
  #stored: Promise<unknown> | undefined;

  private constructor(call: TurnCall, { request, dialect, conversation }: TurnOptions<Request>) {
    this.call = call;
    this.conversation = conversation;
    this.#request = request;
    this.#dialect = dialect;
  }

  /** Shows a turn to the hooks, in their order. */
  static async of<Request extends DialectRequest>(
    call: TurnCall,
    options: TurnOptions<Request>,
    hooks: readonly Hook[],
  ): Promise<ChatTurn<Request>> {
    const turn = new ChatTurn(call, options);
    for (const hook of hooks) {
      const hooked = await hook.before(turn);
      if (hooked !== undefined) turn.#hooked.push(hooked);
    }
    return turn;
  }

  /** The same for a turn that is in chat completions, whatever carries it. */
  static ofChat(
    call: TurnCall,
    chat: ChatRequest,
    conversation: EditableCall['conversation'],
    hooks: readonly Hook[],
  ): Promise<ChatTurn> {
    const request: DialectRequest = { model: chat.model, chat, ignored: [] };
    return ChatTurn.of(call, { request, dialect: chatDialect, conversation }, hooks);
  }

  get caller(): Caller {
    return this.call.caller;
  }

  /** In the API of the client, with what hooks have changed. */
  get request(): Request {
    return this.#request;
  }

  get chat(): ChatRequest {
    return this.#request.chat;
  }

  /** With the messages that were put before those of the client. */
  get full(): ChatRequest {
    const { chat } = this.#request;
    if (this.#added.length === 0) return chat;
    return { ...chat, messages: [...this.#added, ...chat.messages] };
  }

  /** Whether a hook asks for the reply. */
  get keepsReply(): boolean {
    return this.#hooked.some((hooked) => 'ended' in hooked);
  }

  /** What holds its answer back; undefined: nothing does. */
  held(): HeldAnswer | undefined {
    const windows = this.#hooked.flatMap(({ window }) => window ?? []);
    return windows.length === 0 ? undefined : new HeldAnswer(windows);
  }

  insert(messages: readonly ChatMessage[]): void {
    this.#added = [...messages, ...this.#added];
  }

  changeTexts(change: ChangeText): void {
    this.#request = this.#dialect.edited(this.#request, change);
    const { chat } = chatDialect.edited(
      { ...this.#request, chat: { ...this.chat, messages: [...this.#added] } },
      change,
    );
    this.#added = chat.messages;
  }

  /** What its targets must be able to do. */
  wanted({ meter }: Pick<TurnServices, 'meter'>) {
    return {
      capability: 'chat' as const,
      provider: this.chat.provider ?? undefined,
      conversationId: this.conversation?.id,
      hasMedia: () => hasMedia(this.full.messages),
      unbilled: ({ model, backend }: Lease) =>
        meter.unbilled(model, backend, estimatePrompt(this.full)),
      // Nothing of an answer was seen, but the upstream has the prompt.
      whenLeft: () => ({ usage: estimateUsage(this.full, '') }),
    };
  }

  /** A backend is asked: the first time the hooks learn that the turn is accepted. Resolves when they have stored it. */
  asked(): Promise<unknown> {
    this.#stored ??= Promise.all(this.#hooked.flatMap((hooked) => hooked.accepted?.() ?? []));
    return this.#stored;
  }

  /** For one backend. Refuses a backend for a request that only upstreams of the client's API can take. */
  upstream({ backend, model }: Pick<Lease, 'backend' | 'model'>): UpstreamTurn {
    const { own } = this.#request;
    const added = this.#added;
    if (own === undefined) return chatTurn(upstreamBody(this.full, model), added.length);
    const { refusal } = own;
    const isSpoken = [...(backend.apis ?? [])].some((api) => api === own.api);
    if (refusal !== undefined && !isSpoken)
      throw new UnsupportedByBackend(refusal.code, refusal.message);
    return ownTurn(own, { model, added, chat: () => upstreamBody(this.full, model) });
  }

  /** Tells the hooks; resolves to the id of the stored reply. */
  async ended(end: EndedCall): Promise<string | undefined> {
    const ids = await Promise.all(this.#hooked.flatMap((hooked) => hooked.ended?.(end) ?? []));
    return ids.find((id) => id !== undefined);
  }
}

// Fields that `extra` may not set, even if they are absent.
const PROTECTED_FIELDS = new Set([
  ...UNSENT_FIELDS,
  'model',
  'messages',
  'stream',
  'temperature',
  'max_tokens',
  'options',
]);

// The order of the fields that every surface knows. Streaming adapters add the last two themselves.
const FIRST_FIELDS = ['temperature', 'max_tokens', 'tools'];
const LAST_FIELDS = ['stream', 'stream_options'];
const PLACED_FIELDS = new Set(['model', 'messages', ...FIRST_FIELDS, ...LAST_FIELDS]);

/**
 * The body for an upstream: the client's fields without those for the gateway, with `extra` as defaults. Null fields are
 * omitted, since some upstreams reject them. The order of fields is fixed, so that the same turn has the same bytes.
 */
export function upstreamBody(request: ChatRequest, model: string): UpstreamChat {
  const given = givenFields(request);
  const body: Record<string, unknown> & UpstreamChat = { model, messages: request.messages };
  place(FIRST_FIELDS, given, body);
  const others = Object.keys(given).filter((name) => !PLACED_FIELDS.has(name));
  place(others.length < 2 ? others : others.toSorted(), given, body);
  place(LAST_FIELDS, given, body);
  return body;
}

function place(
  names: readonly string[],
  given: Readonly<Record<string, unknown>>,
  body: Record<string, unknown>,
): void {
  for (const name of names) if (Object.hasOwn(given, name)) body[name] = given[name];
}

function givenFields(request: ChatRequest): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(request)) {
    const value = request[name];
    if (!UNSENT_FIELDS.has(name) && value !== null && value !== undefined) given[name] = value;
  }
  const extra: unknown = request['extra'];
  if (typeof extra === 'object' && extra !== null && !Array.isArray(extra)) {
    for (const [name, value] of Object.entries(extra)) {
      if (!PROTECTED_FIELDS.has(name) && !Object.hasOwn(given, name)) given[name] = value;
    }
  }
  return given;
}
