import type {
  ChatRequest,
  ServiceError,
  TurnMessage,
  TurnAnswer,
  TurnEvent,
  TurnUsage,
} from '@model-gateway/contracts';
import type { z } from 'zod';

/** An API that clients speak. A dialect knows no upstream. */
export interface Dialect<Request extends DialectRequest = DialectRequest> {
  /** Checks a body and translates it. A field that cannot be translated is a problem with that path. */
  readonly request: z.ZodType<Request>;
  /** The body of a whole answer. */
  writeAnswer(answer: TurnAnswer, request: Request): object;
  writeStream(request: Request): DialectStream;
  /** For answers of upstreams that speak this API too. */
  readonly passing?: DialectPassing<Request>;
  /** Where its clients look for the id of a request, besides `x-request-id`. */
  readonly requestIdHeader?: string;
  /** A header of requests with a list of flags, none of which has a counterpart. */
  readonly flagsHeader?: string;
  /** The status and the body of an error before the first event. */
  writeError(error: DialectError): { readonly status: number; readonly body: object };
}

/** How answers of upstreams that speak the same API are passed on. */
export interface DialectPassing<Request extends DialectRequest> {
  /** The name of the API in origins. */
  readonly api: string;
  /** The body of a whole answer; the usage is for one that has none. */
  passAnswer(answer: Fields, request: Request, usage: TurnUsage | undefined): object;
  /** `signs` is how many signs of life the client got before. */
  passStream(request: Request, signs: number): PassedStream;
}

type Fields = Readonly<Record<string, unknown>>;

/** A request that was translated. */
export interface DialectRequest {
  /** Of the chat request, where limits and quotas look for them. */
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly chat: ChatRequest;
  readonly own: OwnRequest;
  /** What the client sent by habit and was left out: names of fields and tools. */
  readonly ignored: readonly string[];
  /** What is left out for an upstream that speaks the same API. */
  readonly ignoredInPassing?: readonly string[] | undefined;
}

/** A request in the API of its client. */
export interface OwnRequest {
  /** The name of the API, such as `messages` or `responses`. */
  readonly api: string;
  /** The messages in the form between APIs. */
  readonly messages: readonly TurnMessage[];
  /** The body for an upstream that speaks the same API, with what the gateway added to the messages. */
  bodyWith(added: readonly TurnMessage[]): Fields;
  /** Why an upstream of another API cannot get it. */
  readonly refusal?: ServiceError | undefined;
  /** What a chat body cannot say of it, as `x-service-ignored` names it. */
  readonly lost: readonly string[];
}

/** The facts of a streamed answer that are known before its first event. */
export interface StreamHead {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** An estimate; the usage has the real count. */
  readonly promptTokens: () => number;
}

/** Writes one streamed answer as server-sent events. Each function returns text for the client, which may be empty. */
export interface DialectStream {
  /** Called before the first event of the turn. */
  begin(head: StreamHead): string;
  /** Tells the client that its answer is being made; also before the beginning. */
  alive(): string;
  write(event: TurnEvent): string;
  /** The whole answer as one body, after its last event; for APIs that keep answers. */
  answer?(): object;
  /** After the last event of a complete answer; the body is that of `answer`, as it was kept. */
  end(answer?: object): string;
  /** Instead of `end`, if the answer was cut off. */
  fail(failure: StreamFailure): string;
}

/** Why an answer was cut off. */
export interface StreamFailure {
  readonly message: string;
  /** The status that the error stands for, where it is known. */
  readonly upstreamStatus?: number | undefined;
  readonly requestId: string;
}

/** Passes one streamed answer on. Of the events of the turn it needs only the usage, where the upstream reported none. */
export interface PassedStream extends DialectStream {
  pass(event: Fields): string;
}

/** What is known about an error. */
export interface DialectError {
  /** Status, type and code of the chat-completions API. */
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  /** The field that an upstream named. */
  readonly param?: string | null | undefined;
  /** What the upstream answered, if its error is behind this one. */
  readonly upstreamStatus?: number | undefined;
  readonly requestId: string;
}
