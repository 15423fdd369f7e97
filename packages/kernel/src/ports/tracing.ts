/** The attributes of a span. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[]>
>;

export type SpanKind = 'server' | 'client' | 'internal';

/** How to begin a span. */
export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes;
  /** The headers of an incoming request, so that the span continues the trace of its sender. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** One operation in a trace. Its attributes never contain prompts or secrets. */
export interface Span {
  readonly traceId: string;
  /** Spans that the work begins, now or later, are children of this one. */
  run<Result>(work: () => Result): Result;
  set(attributes: SpanAttributes): void;
  /** Ends the span; with the type of the error, if there was one. */
  end(errorType?: string): void;
}

/** Creates spans. */
export interface Tracing {
  begin(start: SpanStart): Span;
  /** Adds attributes to the current span if it is of kind `client`; they describe the called service only. */
  annotate(attributes: SpanAttributes): void;
  /** Headers for an upstream, so that its spans are children of the current one. */
  headers(): Readonly<Record<string, string>>;
}
