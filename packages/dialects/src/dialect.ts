import type { ChatRequest } from '@model-gateway/contracts';
import type { z } from 'zod';
import type { TurnAnswer, TurnEvent } from './turn/turn.ts';

/** An API that clients speak. A dialect knows no upstream. */
export interface Dialect<Request extends DialectRequest = DialectRequest> {
  /** Checks a body and translates it. A field that cannot be translated is a problem with that path. */
  readonly request: z.ZodType<Request>;
  /** The body of a whole answer. */
  writeAnswer(answer: TurnAnswer, request: Request): object;
  writeStream(request: Request, head: StreamHead): DialectStream;
  /** The status and the body of an error before the first event. */
  writeError(error: DialectError): { readonly status: number; readonly body: object };
}

/** A request that was translated. */
export interface DialectRequest {
  /** Of the chat request, where limits and quotas look for them. */
  readonly model: string;
  readonly models?: readonly string[] | null | undefined;
  readonly chat: ChatRequest;
  /** What the client sent by habit and was left out: names of fields and tools. */
  readonly ignored: readonly string[];
}

/** The facts of a streamed answer that are known before its first event. */
export interface StreamHead {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Writes one streamed answer as server-sent events. Each function returns text for the client, which may be empty. */
export interface DialectStream {
  /** Called before the first event of the turn. */
  begin(): string;
  write(event: TurnEvent): string;
  /** The whole answer as one body, after its last event; for APIs that keep answers. */
  answer?(): object;
  /** After the last event of a complete answer; the body is that of `answer`, as it was kept. */
  end(answer?: object): string;
  /** Instead of `end`, if the answer was cut off. */
  fail(message: string): string;
}

/** What is known about an error. */
export interface DialectError {
  /** Status, type and code of the chat-completions API. */
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly requestId: string;
}
