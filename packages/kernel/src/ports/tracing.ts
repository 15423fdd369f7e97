/** What a span can say. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[]>
>;

export type SpanKind = 'server' | 'client' | 'internal';

/** A span that has to be begun. */
export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes;
  /** The headers of a request from outside, where the span continues a trace of its sender. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Something that takes time, as part of a trace. Nothing that a person wrote and no secret is ever told to it. */
export interface Span {
  readonly traceId: string;
  /** Spans that are begun by the work, now or later, are below this one. */
  run<Result>(work: () => Result): Result;
  set(attributes: SpanAttributes): void;
  /** Ends it once; with the type of what went wrong, where something did. */
  end(errorType?: string): void;
}

/** Where spans go. Who has none pays nothing. */
export interface Tracing {
  begin(start: SpanStart): Span;
  /** Tells the current span, if it is of kind `client`: whom a call is made to is nothing that others are told. */
  annotate(attributes: SpanAttributes): void;
  /** What an upstream is sent so that its own spans are below the current one. */
  headers(): Readonly<Record<string, string>>;
}
