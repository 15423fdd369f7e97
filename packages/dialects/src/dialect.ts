import type {
  AnswerPart,
  ChangeText,
  ChatRequest,
  OwnForm,
  UpstreamCompletion,
  ServiceError,
  TurnMessage,
  TurnAnswer,
  TurnEvent,
  TurnUsage,
} from '@model-gateway/contracts';
import type { z } from 'zod';

/** An API that clients speak. A dialect knows no upstream. */
export interface Dialect<Request extends DialectRequest = DialectRequest> {
  /** The name of the API among the APIs. */
  readonly api: string;
  /** Checks a body and translates it. A field that cannot be translated is a problem with that path. */
  readonly request: z.ZodType<Request>;
  /** The request with other texts, in its own API and in every other form. */
  edited(request: Request, change: ChangeText): Request;
  answer(answer: WholeAnswer, request: Request): WrittenAnswer;
  stream(request: Request): AnswerWriter;
  /** Whether the event of a failure alone tells clients that an answer is not whole; otherwise the connection closes, too. */
  readonly isFailureEnough: boolean;
  /** Where its clients look for the id of a request, besides `x-request-id`. */
  readonly requestIdHeader?: string;
  /** A header of requests with a list of flags, none of which has a counterpart. */
  readonly flagsHeader?: string;
  /** The status and the body of an error before the first event; absent where they are those of chat completions. */
  readonly writeError?: WriteError;
}

type WriteError = (error: DialectError) => { readonly status: number; readonly body: object };

/** A whole answer in the forms that a client can get. */
export interface WholeAnswer {
  /** What the upstream sent, if it is known in its own API. */
  readonly own: OwnForm | undefined;
  /** In the form between APIs. */
  readonly answer: () => TurnAnswer;
  readonly completion: UpstreamCompletion;
  /** The completion as JSON, if the backend gave it as that; a long one is written once. */
  readonly text: string | undefined;
}

/** A whole answer in the form of an API. */
interface WrittenAnswer {
  readonly body: object;
  /** The body as JSON, if there is one. */
  readonly text?: string | undefined;
  /** What of the request was left out. */
  readonly ignored: readonly string[];
}

/** Writes one streamed answer as server-sent events. Each function returns text for the client, which may be empty. */
export interface AnswerWriter {
  /** What of the request was left out; known when the stream has begun. */
  readonly ignored: readonly string[];
  /** Looks at the first part, which is written too. */
  begin(head: StreamHead, first: AnswerPart | undefined): string;
  /** Tells the client that its answer is being made; also before the beginning. */
  alive(): string;
  write(part: AnswerPart): string;
  /** The whole answer as one body, after its last part; undefined for APIs that keep no answers. */
  answer(): object | undefined;
  /** After the last part of a complete answer; the body is that of `answer`, as it was kept. */
  end(answer?: object): string;
  /** Instead of `end`, if the answer was cut off. */
  fail(failure: StreamFailure): string;
}

/** A dialect whose answers are written event by event, or relayed as an upstream of the same API sent them. */
export interface EventDialect<Request extends DialectRequest> extends Omit<
  Dialect<Request>,
  'answer' | 'stream' | 'isFailureEnough'
> {
  readonly writeError: WriteError;
  /** The body of a whole answer. */
  readonly writeAnswer: (answer: TurnAnswer, request: Request) => object;
  readonly writeStream: (request: Request) => EventWriter;
  /** The body of a whole answer of such an upstream; the usage is for one that has none. */
  readonly relayAnswer: (answer: Fields, request: Request, usage: TurnUsage | undefined) => object;
  /** `signs` is how many signs of life the client got before. */
  readonly relayStream: (request: Request, signs: number) => RelayWriter;
}

type Fields = Readonly<Record<string, unknown>>;

/** A request that was translated. */
export interface DialectRequest {
  /** Of the chat request, where limits and quotas look for them. */
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly chat: ChatRequest;
  /** The request in its own API; absent for chat completions. */
  readonly own?: OwnRequest | undefined;
  /** What the client sent by habit and was left out: names of fields and tools. */
  readonly ignored: readonly string[];
  /** What is left out for an upstream that speaks the same API. */
  readonly ignoredInRelay?: readonly string[] | undefined;
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

/** Writes the events of one streamed answer. Each function returns text for the client, which may be empty. */
export interface EventWriter {
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
  /** As the error table names it; absent for failures of upstreams. */
  readonly code?: string | undefined;
  readonly requestId: string;
}

/** Relays one streamed answer. Of the events of the turn it needs only the usage, where the upstream reported none. */
export interface RelayWriter extends EventWriter {
  relay(event: Fields): string;
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
