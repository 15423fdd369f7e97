import type { UpstreamCompletion } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import type { UpstreamFailure } from './upstream-failure.ts';

/** How well a backend answers. Only Healthy ones are routed to. */
export type HealthState = 'Healthy' | 'Degraded' | 'Unhealthy';

/** What a backend can be asked for. */
export const CAPABILITIES = ['chat', 'embeddings', 'video', 'realtime', 'invoke'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The upstream kinds. */
export const BACKEND_KINDS = [
  'external',
  'local-server',
  'engine',
  'cloud-video',
  'agent',
] as const;
export type BackendKind = (typeof BACKEND_KINDS)[number];

export interface Probe {
  readonly state: HealthState;
  /** The model ids that the backend serves, where it could be asked. */
  readonly models: readonly string[];
  /** Why it is not Healthy. */
  readonly reason?: string;
}

/** A chat body on its way to an upstream: ready to send, with the model id as the backend lists it. */
export type UpstreamChat = Readonly<Record<string, unknown>> & { readonly model: string };

/** A whole answer. */
export interface UpstreamAnswer {
  readonly completion: UpstreamCompletion;
  /** What the upstream wrote, where that can be passed on as it is. */
  readonly text?: string;
}

/** One piece of a streamed answer, in the form of the chat-completions convention. */
export type ChatChunk = Readonly<Record<string, unknown>>;

/**
 * A streamed answer. An upstream that speaks the chat-completions convention itself passes its bytes on untouched; the
 * others make chunks. Iterating pulls: nothing is read from the upstream that nobody asked for.
 */
export type UpstreamStream =
  | {
      readonly form: 'events';
      readonly bytes: AsyncIterable<Uint8Array>;
      /** Makes an error of the stream fit for users: one line, bounded, without the backend's key. */
      readonly cleanMessage: (message: string) => string;
    }
  | { readonly form: 'chunks'; readonly chunks: AsyncIterable<ChatChunk> };

/** What is to be embedded: texts, or token ids that only the upstream itself understands. */
export type EmbeddingInput = readonly string[] | readonly number[] | readonly (readonly number[])[];

/** An embeddings body on its way to an upstream, with the model id as the backend lists it. */
export type UpstreamEmbedding = Readonly<Record<string, unknown>> & {
  readonly model: string;
  readonly input: EmbeddingInput;
};

/** The vectors of the inputs, in order, and how many tokens they were where the upstream says it. */
export interface UpstreamEmbeddings {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  readonly promptTokens: number | undefined;
}

/** A video task on its way to an upstream: ready to send, with the model id as the backend lists it. */
export type UpstreamVideo = Readonly<Record<string, unknown>> & { readonly model: string };

/** How a submitted video task stands. */
export type VideoTask =
  /** The progress in percent, where the upstream tells it. */
  | { readonly state: 'pending'; readonly progress: number | undefined }
  | {
      readonly state: 'done';
      readonly fileId: string;
      readonly width: number | undefined;
      readonly height: number | undefined;
    }
  | { readonly state: 'failed'; readonly error: string };

/** One event of a realtime session, in either direction. */
export type RealtimeEvent = Readonly<Record<string, unknown>>;

/** What an upstream said in a realtime session. */
export interface UpstreamEvent {
  readonly event: RealtimeEvent;
  /** The event as JSON on one line, with the very digits of the upstream where they can be had. */
  readonly text: string;
}

/** A realtime session that is to be opened. */
export interface RealtimeOpening {
  /** As the backend lists it. */
  readonly model: string;
  /** Told to the upstream first; undefined tells it nothing. */
  readonly config: RealtimeEvent | undefined;
  /** Told every event in order, the first perhaps before the link is there. */
  readonly onEvent: (event: UpstreamEvent) => void;
  /** Told once, after the last event, when the upstream ended the session or was lost; not after `close`. */
  readonly onClosed: (reason: UpstreamFailure) => void;
}

/** The way to the upstream of an open realtime session. */
export interface RealtimeLink {
  /** Queues an event without waiting. False when too much is waiting already, and it was not taken. */
  send(event: RealtimeEvent): boolean;
  /** Ends the session; nothing is told any more. */
  close(): void;
}

/** One upstream behind the gateway. A backend that lacks a method cannot do that. */
export interface Backend {
  readonly name: string;
  readonly kind: BackendKind;
  /** What it can be asked for now; an engine tells with its handshake. */
  capabilities(): ReadonlySet<Capability>;
  /** Whether it can do that for this model; where it is missing, it can do the same for all of them. */
  serves?(capability: Capability, model: string): boolean;
  probe(signal: AbortSignal): Promise<Probe>;
  chat?(body: UpstreamChat, cancel: Cancel): Promise<UpstreamAnswer>;
  /** Resolves when the upstream has begun a good answer; what fails later fails the iteration. */
  chatStream?(body: UpstreamChat, cancel: Cancel): Promise<UpstreamStream>;
  /** Token ids are given only to kinds that pass a request on as it is. */
  embed?(request: UpstreamEmbedding, cancel: Cancel): Promise<UpstreamEmbeddings>;
  /** Calls a method of the engine behind a model; answers what it answered. */
  invoke?(model: string, method: string, params: unknown, cancel: Cancel): Promise<unknown>;
  /** Resolves when the session is open at the upstream. */
  openRealtime?(opening: RealtimeOpening, cancel: Cancel): Promise<RealtimeLink>;
  /** Submits a video task. The same key never makes a second task where the upstream heeds it. */
  submitVideo?(
    body: UpstreamVideo,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<{ readonly taskId: string }>;
  queryVideo?(taskId: string, signal: AbortSignal): Promise<VideoTask>;
  /** Where the file of a finished task can be fetched. */
  resolveVideo?(fileId: string, signal: AbortSignal): Promise<{ readonly url: string }>;
  close(): Promise<void>;
}
