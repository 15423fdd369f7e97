import type {
  AnswerPart,
  OwnForm,
  TurnAnswer,
  UpstreamCompletion,
  UpstreamTurn,
} from '@model-gateway/contracts';
import type { UpstreamFailure } from './upstream-failure.ts';

/** The health of a backend. Only Healthy ones get requests. */
export type HealthState = 'Healthy' | 'Degraded' | 'Unhealthy';

/** The capabilities whose requests and answers pass unchanged. */
const RELAYED_CAPABILITIES = [
  'completions',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcription',
] as const;
export type RelayedCapability = (typeof RELAYED_CAPABILITIES)[number];

/** The capabilities of a backend. */
export const CAPABILITIES = [
  'chat',
  'embeddings',
  'video',
  'realtime',
  'invoke',
  ...RELAYED_CAPABILITIES,
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Whether requests of the capability pass unchanged. */
export const isRelayedCapability = (capability: Capability): capability is RelayedCapability =>
  RELAYED_CAPABILITIES.some((relayed) => relayed === capability);

/** The APIs besides chat completions that an upstream can speak. */
export const UPSTREAM_APIS = ['responses'] as const;
export type UpstreamApi = (typeof UPSTREAM_APIS)[number];

/** What a kind of backend is, where that matters to others than itself. All are false unless a kind says otherwise. */
export interface KindFacts {
  /** It runs models on machines of the operator: they cost nothing, unless they have a price of their own. */
  readonly isFree?: boolean;
  /** Somebody else than the operator chooses what it reports, so that its usage is believed only as far as it can be. */
  readonly isBounded?: boolean;
  /** It serves only the models that it lists. */
  readonly listsAll?: boolean;
  /** It passes requests on without reading them, so that inputs may be token ids. */
  readonly takesTokenIds?: boolean;
}

export interface Probe {
  readonly state: HealthState;
  /** The model ids that the backend serves, if the probe could list them. */
  readonly models: readonly string[];
  /** How many tokens a model can read and write in one request, as far as the backend lists it. */
  readonly contextLengths?: ReadonlyMap<string, number>;
  /** Why it is not Healthy, or what is known only in part. */
  readonly reason?: string;
}

/** A whole answer: as a chat completion of an upstream that speaks that API, otherwise in the form between APIs. */
export type UpstreamAnswer = (
  | {
      readonly completion: UpstreamCompletion;
      /** The bytes of the upstream, if they can be passed on unchanged. */
      readonly text?: string;
    }
  | {
      readonly answer: TurnAnswer;
      /** What the upstream sent, for a client of the same API. */
      readonly own?: OwnForm | undefined;
    }
) & {
  /** Fields of the request that the upstream cannot be sent and that were left out. */
  readonly ignored?: readonly string[];
};

/**
 * A streamed response. The bytes of an upstream that uses the chat-completions convention are passed on unchanged; other
 * kinds produce parts. Iterating pulls: nothing is read from the upstream before it is needed.
 */
export type UpstreamStream =
  | {
      readonly form: 'events';
      readonly bytes: AsyncIterable<Uint8Array>;
      /** Cleans an error of the stream for users: one line, bounded, without the backend's key. */
      readonly cleanMessage: (message: string) => string;
      /** As in a whole answer. */
      readonly ignored?: readonly string[];
    }
  | {
      readonly form: 'parts';
      readonly parts: AsyncIterable<AnswerPart>;
      /** As in a whole answer. */
      readonly ignored?: readonly string[];
    };

/** What is to be embedded: texts, or token ids that only the upstream itself understands. */
export type EmbeddingInput = readonly string[] | readonly number[] | readonly (readonly number[])[];

/** An embeddings body on its way to an upstream, with the model id as the backend lists it. */
export type UpstreamEmbedding = Readonly<Record<string, unknown>> & {
  readonly model: string;
  readonly input: string | EmbeddingInput;
};

/** The vectors of the inputs, in order, and the number of tokens if the upstream reports it. */
export interface UpstreamEmbeddings {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  /** The same as the upstream wrote them, where it wrote lists of numbers and the client gets such. */
  readonly vectorTexts?: readonly string[] | undefined;
  readonly promptTokens: number | undefined;
  /** The part of them that the upstream read from its cache, if it reports that. */
  readonly cachedTokens?: number | undefined;
}

/** A body that is read once, while it is sent. */
export interface StreamedBody {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** How many bytes it has, if that is known. */
  readonly length: number | undefined;
}

/** The body of a request that passes as it is, with the model id as the backend lists it. */
export type RelayedContent = { readonly json: object } | StreamedBody;

/** A request that passes to an upstream as it is. */
export interface RelayedRequest {
  /** As the backend lists it. */
  readonly model: string;
  /** Below the base URL of the upstream, as `/audio/speech`. */
  readonly path: string;
  readonly content: RelayedContent;
}

/** A successful answer that passes to the client as it is. Iterating pulls: nothing is read before it is needed. */
export interface RelayedAnswer {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Cleans an error in the answer for users: one line, bounded, without the backend's key. */
  readonly cleanMessage: (message: string) => string;
}

/** A video task on its way to an upstream: ready to send, with the model id as the backend lists it. */
export type UpstreamVideo = Readonly<Record<string, unknown>> & { readonly model: string };

/** The state of a submitted video task. */
export type VideoTask =
  /** The progress in percent, if the upstream reports it. */
  | { readonly state: 'pending'; readonly progress: number | undefined }
  | {
      readonly state: 'done';
      readonly fileId: string;
      readonly width: number | undefined;
      readonly height: number | undefined;
    }
  | { readonly state: 'failed'; readonly error: string };

/** What an upstream charges for a video task that it was asked to cancel. */
export type VideoCharge =
  | 'nothing'
  /** It had finished the task. */
  | 'everything'
  /** USD. */
  | { readonly cost: number };

/** One event of a realtime session, in either direction. */
export type RealtimeEvent = Readonly<Record<string, unknown>>;

/** An event from an upstream in a realtime session. */
export interface UpstreamEvent {
  readonly event: RealtimeEvent;
  /** The event as JSON on one line, with the original digits of numbers where possible. */
  readonly text: string;
}

/** The options of a realtime session. */
export interface RealtimeOpening {
  /** As the backend lists it. */
  readonly model: string;
  /** Sent to the upstream first, unless undefined. */
  readonly config: RealtimeEvent | undefined;
  /** Called with every event in order, the first possibly before the link exists. */
  readonly onEvent: (event: UpstreamEvent) => void;
  /** Called once, after the last event, when the upstream ended the session or disconnected; not after `close`. */
  readonly onClosed: (reason: UpstreamFailure) => void;
}

/** The connection to the upstream of an open realtime session. */
export interface RealtimeLink {
  /** Queues an event without waiting. False when the queue is full and the event was dropped. */
  send(event: RealtimeEvent): boolean;
  /** Ends the session; no callback is called afterwards. */
  close(): void;
}

/** Who is told about an answer that is read to its end. */
export interface AnswerWatch {
  /** Called when its first byte arrives. */
  readonly onFirstByte?: (() => void) | undefined;
  /** Calls the listener when the caller has the answer, or has left. Absent where that is not known. */
  readonly onEnd?: ((listener: () => void) => void) | undefined;
}

/** One upstream of the gateway. A backend without a method does not support it. */
export interface Backend {
  readonly name: string;
  /** How it is spoken to: the name of one of the kinds. */
  readonly kind: string;
  readonly facts?: KindFacts | undefined;
  /** The APIs whose requests it gets as clients sent them; absent if it speaks only chat completions. */
  readonly apis?: ReadonlySet<UpstreamApi>;
  /** Its current capabilities; an engine reports them in its handshake. */
  capabilities(): ReadonlySet<Capability>;
  /** Whether it has the capability for this model; without this method all models have the same. */
  serves?(capability: Capability, model: string): boolean;
  probe(signal: AbortSignal): Promise<Probe>;
  chat?(turn: UpstreamTurn, signal: AbortSignal, watch?: AnswerWatch): Promise<UpstreamAnswer>;
  /** Resolves when a successful response has begun; a later failure fails the iteration. */
  chatStream?(
    turn: UpstreamTurn,
    signal: AbortSignal,
    watch?: AnswerWatch,
  ): Promise<UpstreamStream>;
  /** Token ids are passed only to kinds that forward requests unchanged. */
  embed?(
    request: UpstreamEmbedding,
    signal: AbortSignal,
    watch?: AnswerWatch,
  ): Promise<UpstreamEmbeddings>;
  /** Passes a request of a capability that needs no translation. Resolves when a successful answer has begun. */
  relay?(request: RelayedRequest, signal: AbortSignal): Promise<RelayedAnswer>;
  /** Calls a method of the engine behind a model; returns its result. */
  invoke?(model: string, method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Resolves when the session is open at the upstream. */
  openRealtime?(opening: RealtimeOpening, signal: AbortSignal): Promise<RealtimeLink>;
  /** Submits a video task. The same key creates no second task if the upstream supports that. */
  submitVideo?(
    body: UpstreamVideo,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<{ readonly taskId: string }>;
  /** Asks the upstream to cancel a task. Rejects with a failure that is not the backend's fault when it cannot. */
  cancelVideo?(taskId: string, signal: AbortSignal): Promise<VideoCharge>;
  queryVideo?(taskId: string, signal: AbortSignal): Promise<VideoTask>;
  /** The URL of the file of a finished task. */
  resolveVideo?(fileId: string, signal: AbortSignal): Promise<{ readonly url: string }>;
  /** The same backend with each of its upstream keys; absent where there is one. */
  readonly keys?: readonly Backend[] | undefined;
  close(): Promise<void>;
}
