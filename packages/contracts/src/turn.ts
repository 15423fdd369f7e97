import type { MediaTokens } from './media-tokens.ts';

/** A chat body on its way to an upstream: ready to send, with the model id as the backend lists it. */
export type UpstreamChat = Readonly<Record<string, unknown>> & { readonly model: string };

/** A turn on its way to an upstream, in the API of its client and readable in two other forms. Each form is made when it is asked for. */
export interface UpstreamTurn {
  /** The API of the client: `chat` for chat completions. */
  readonly api: string;
  /** As the backend lists it. */
  readonly model: string;
  /** The request in that API, for upstreams that speak it: without the gateway's own fields, with what the gateway added. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly chat: UpstreamChat;
  readonly turn: Turn;
  /** How many messages, such as memories, the gateway added before those of the client. */
  readonly added: number;
  /** What a chat body cannot say of the request, as `x-service-ignored` names it. */
  readonly lost: readonly string[];
}

/** One chat turn in the form that client dialects write and upstream kinds read. */
export interface Turn {
  readonly model: string;
  readonly messages: readonly TurnMessage[];
  readonly tools: readonly FunctionTool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly output?: OutputFormat | undefined;
  readonly reasoning?: ReasoningOptions | undefined;
  /** How many tokens may be generated, including reasoning. */
  readonly maxTokens?: number | undefined;
  /** The client wants no limit at all, not the one that an upstream has by default. */
  readonly isUnlimited?: boolean | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly stream?: boolean | undefined;
  /** An id of the end user, for the upstream's abuse detection. */
  readonly user?: string | undefined;
  /** Fields of chat completions that have no counterpart here, such as `seed`; kinds that know them use them. */
  readonly further?: Readonly<Record<string, unknown>> | undefined;
}

export type TurnMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  readonly role: 'system';
  readonly parts: readonly TextPart[];
}

export interface UserMessage {
  readonly role: 'user';
  readonly parts: readonly UserPart[];
}

/** Parts in the order in which they were generated. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly parts: readonly AssistantPart[];
}

/** The result of one tool call. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly parts: readonly UserPart[];
  readonly isError?: boolean | undefined;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart;
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart | ImagePart;

/** The end of a part of the prompt that an upstream may cache, as the Messages API writes it. */
interface CacheMark {
  readonly cacheControl?: Readonly<Record<string, unknown>> | undefined;
}

export interface TextPart extends CacheMark {
  readonly type: 'text';
  readonly text: string;
}

export interface ImagePart extends CacheMark {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: 'auto' | 'low' | 'high' | undefined;
}

/** A document, such as a PDF. */
export interface FilePart extends CacheMark {
  readonly type: 'file';
  readonly source: MediaSource | { readonly type: 'id'; readonly id: string };
  readonly name?: string | undefined;
}

export interface AudioPart {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  /** As `wav` or `mp3`. */
  readonly format: string;
}

export type MediaSource =
  | { readonly type: 'url'; readonly url: string }
  /** Base64. */
  | { readonly type: 'data'; readonly mediaType: string; readonly data: string };

export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

/** What a model thought before it answered. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  /** Proves to the upstream that the text is its own; it is sent back unchanged. */
  readonly signature?: string | undefined;
  /** A thought that only the upstream can read; the text is then empty. */
  readonly encrypted?: string | undefined;
  /** The call that the signature belongs to, in an API whose calls have none; the text is then empty. */
  readonly callId?: string | undefined;
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
  /** Proves to the upstream that the call is its own; it is sent back unchanged. */
  readonly signature?: string | undefined;
}

export interface FunctionTool extends CacheMark {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema; absent for a function without parameters. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly strict?: boolean | undefined;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type OutputFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly description?: string | undefined;
      readonly strict?: boolean | undefined;
    };

export interface ReasoningOptions {
  /** As `low`, `medium` or `high`; `none` turns it off. */
  readonly effort?: string | undefined;
  /** For kinds that take a number of tokens instead. */
  readonly budgetTokens?: number | undefined;
}

/** The usage of a turn. Absent counts are unknown. */
export interface TurnUsage {
  /** All tokens of the prompt, including those of the cache. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The part of the prompt that was read from the upstream's cache. */
  readonly cachedTokens?: number | undefined;
  /** The part of the prompt that was written to the upstream's cache. */
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /** Which of the tokens are no text. */
  readonly mediaTokens?: MediaTokens | undefined;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A whole answer. */
export interface TurnAnswer {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly parts: readonly AssistantPart[];
  /** What the texts of the parts refer to. */
  readonly citations?: readonly UrlCitation[] | undefined;
  /** The probabilities of the tokens, as chat completions have them. */
  readonly logprobs?: unknown;
  readonly finish: FinishReason;
  /** The text of `stop` that ended the answer, where the upstream says it. */
  readonly stopSequence?: string | undefined;
  /** Undefined where the upstream reported none. */
  readonly usage?: TurnUsage | undefined;
}

/** A page that a part of an answer's text refers to. */
export interface UrlCitation {
  readonly url: string;
  readonly title: string;
  /** The part of the text, from the first character to the one after the last. */
  readonly start: number;
  readonly end: number;
}

/** One step of a streamed answer. Tool calls may be interleaved; `index` tells them apart. */
export type TurnEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'citation'; readonly citation: UrlCitation }
  | ImagePart
  | {
      readonly type: 'reasoning';
      readonly text: string;
      readonly signature?: string | undefined;
      readonly encrypted?: string | undefined;
    }
  | {
      readonly type: 'tool_call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string | undefined;
    }
  | { readonly type: 'tool_arguments'; readonly index: number; readonly text: string }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly stopSequence?: string | undefined;
    }
  | { readonly type: 'usage'; readonly usage: TurnUsage };

/** What an upstream sent, in its own API: an event of a stream, or a whole answer. */
export interface OwnForm {
  readonly api: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** One step of a streamed answer: what the upstream sent, for clients of the same API, and what it says, for all others. */
export interface AnswerPart {
  readonly own?: OwnForm | undefined;
  readonly events: readonly TurnEvent[];
  /** The model, as the upstream names it. */
  readonly model?: string | undefined;
  readonly logprobs?: unknown;
  /** What the upstream has used until now, for answers that break off; no client is told. */
  readonly usageSoFar?: TurnUsage | undefined;
}

/** One text of a request, whoever wrote it. */
export interface TextSlot {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
}

/** Gives a text of a request another one, or the same. */
export type ChangeText = (slot: TextSlot) => string;
