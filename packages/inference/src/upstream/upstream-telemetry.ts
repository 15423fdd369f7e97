import type { TokenUsage } from '@model-gateway/contracts';
import {
  perName,
  type CounterSeries,
  type HistogramSeries,
  type Metrics,
  type Span,
  type Tracing,
} from '@model-gateway/kernel';
import type { Backend, Capability } from '@model-gateway/router';
import { errorTypeOf, failureKindOf } from './failure-kind.ts';

/** Metrics and traces of the attempts at backends. */
export interface UpstreamTelemetry {
  begin(
    operation: Capability,
    backend: Pick<Backend, 'name'>,
    model: string | undefined,
  ): TrackedAttempt;
}

/** One attempt at a backend. Only the first report of its end counts. */
export interface TrackedAttempt {
  /** Runs the attempt inside its trace span. */
  run<Result>(work: () => Result): Result;
  /** The first chunk of a streamed response arrived. */
  begun(): void;
  /** The outcome is computed only if the attempt is traced. */
  end(outcome?: () => AttemptOutcome): void;
  fail(failure: unknown): void;
  /** The client left; the backend is not at fault. */
  leave(): void;
}

/** The data of a successful response for the trace. */
export interface AttemptOutcome {
  readonly usage?: TokenUsage | undefined;
  readonly finishReasons?: readonly string[];
  /** The upstream's name of the model. */
  readonly model?: string | undefined;
}

interface UpstreamTelemetryDependencies {
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
}

/** The counters of one backend and operation. */
interface AttemptCounts {
  readonly calls: CounterSeries;
  readonly duration: HistogramSeries;
  readonly firstToken: HistogramSeries;
  readonly errors: (kind: string) => CounterSeries;
}

const BACKENDS_MAX = 100;
const FAILURE_KINDS_MAX = 20;
const MS_PER_SECOND = 1_000;
const DURATION_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const FIRST_TOKEN_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 25, 60];

export function createUpstreamTelemetry(
  dependencies: UpstreamTelemetryDependencies,
): UpstreamTelemetry {
  const { metrics, tracing } = dependencies;
  const countsOf = createCounts(metrics);
  return {
    begin(operation, { name }, model) {
      const span =
        tracing === undefined ? undefined : beginSpan(tracing, { operation, backend: name, model });
      return new AttemptTracker(countsOf(name)(operation), span);
    },
  };
}

/** A class, because there is one per request: methods are created once. */
class AttemptTracker implements TrackedAttempt {
  readonly #counts: AttemptCounts;
  readonly #span: Span | undefined;
  readonly #startedAt = performance.now();
  #isOver = false;
  #isBegun = false;

  constructor(counts: AttemptCounts, span: Span | undefined) {
    this.#counts = counts;
    this.#span = span;
    counts.calls.inc();
  }

  run<Result>(work: () => Result): Result {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  begun(): void {
    this.#isBegun = true;
    this.#counts.firstToken.observe(this.#seconds());
  }

  end(outcome?: () => AttemptOutcome): void {
    if (!this.#isFirst()) return;
    this.#counts.duration.observe(this.#seconds());
    if (this.#span === undefined) return;
    if (outcome !== undefined) describe(this.#span, outcome());
    this.#span.end();
  }

  fail(failure: unknown): void {
    if (!this.#isFirst()) return;
    const kind = failureKindOf(failure, this.#isBegun);
    this.#counts.duration.observe(this.#seconds());
    this.#counts.errors(kind).inc();
    this.#span?.end(errorTypeOf(failure, kind));
  }

  leave(): void {
    if (this.#isFirst()) this.#span?.end('client_gone');
  }

  #isFirst(): boolean {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    return isFirst;
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / MS_PER_SECOND;
  }
}

function createCounts(metrics: Metrics) {
  const calls = metrics.counter({
    name: 'service_upstream_requests_total',
    help: 'Calls to backends; a retry on another backend, or with another key, counts again.',
    labels: ['backend', 'operation'],
  });
  const errors = metrics.counter({
    name: 'service_upstream_errors_total',
    help: 'Calls to backends that failed, by the kind of failure.',
    labels: ['backend', 'kind'],
  });
  const durations = metrics.histogram({
    name: 'service_upstream_duration_seconds',
    help: 'How long calls to backends took, successful or not.',
    labels: ['backend', 'operation'],
    buckets: DURATION_SECONDS,
  });
  const firstTokens = metrics.histogram({
    name: 'service_time_to_first_token_seconds',
    help: 'How long backends took until the first chunk of a streamed response.',
    labels: ['backend'],
    buckets: FIRST_TOKEN_SECONDS,
  });
  return perName(BACKENDS_MAX, (backend) => {
    const ofKind = perName(FAILURE_KINDS_MAX, (kind) => errors.series({ backend, kind }));
    return perName<AttemptCounts>(BACKENDS_MAX, (operation) => ({
      calls: calls.series({ backend, operation }),
      duration: durations.series({ backend, operation }),
      firstToken: firstTokens.series({ backend }),
      errors: ofKind,
    }));
  });
}

interface SpanFacts {
  readonly operation: Capability;
  readonly backend: string;
  readonly model: string | undefined;
}

/** The OpenTelemetry attributes for generative AI, without prompts and responses. */
const beginSpan = (tracing: Tracing, { operation, backend, model }: SpanFacts): Span =>
  tracing.begin({
    name: model === undefined ? operation : `${operation} ${model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': backend,
      ...(model === undefined ? {} : { 'gen_ai.request.model': model }),
    },
  });

function describe(span: Span, { usage, finishReasons = [], model }: AttemptOutcome): void {
  span.set({
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(finishReasons.length === 0 ? {} : { 'gen_ai.response.finish_reasons': finishReasons }),
    ...(usage === undefined
      ? {}
      : {
          'gen_ai.usage.input_tokens': usage.prompt_tokens,
          'gen_ai.usage.output_tokens': usage.completion_tokens,
        }),
  });
}
