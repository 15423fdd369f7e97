import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createContextKey,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import {
  describeError,
  withTimeout,
  type Log,
  type Span,
  type SpanAttributes,
  type Tracing,
} from '@model-gateway/kernel';
import { createSampler, type Sampling } from './sampler.ts';

interface OtelTracingOptions {
  readonly name: string;
  /** The base address of the collector. */
  readonly endpoint: string;
  readonly sampling: Sampling;
  readonly log: Log;
}

/** Tracing that has to be closed. */
export interface OtelTracing extends Tracing {
  /** Sends the remaining spans, within a time limit. */
  close(): Promise<void>;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** Whether the span of a context is a call to another service. */
const IS_CALL = createContextKey('is-call');

/** How long a stopping process waits for a collector. */
const CLOSE_MS_MAX = 3_000;
/** The shortest time between two log lines about the collector. */
const WARN_EVERY_MS = 60_000;

/** Sends spans to a collector, in batches of bounded size. */
export function createOtelTracing(options: OtelTracingOptions): OtelTracing {
  const { name, endpoint, sampling, log } = options;
  const reportFailure = createFailureReport(log);
  setGlobalErrorHandler(reportFailure);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `model-gateway-${name}` }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(sampling),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  const tracer = provider.getTracer('model-gateway');
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Context>();

  return {
    begin({ name: spanName, kind, attributes = {}, headers }) {
      const active = current.getStore() ?? ROOT_CONTEXT;
      const parent =
        headers === undefined ? active : propagator.extract(active, headers, defaultTextMapGetter);
      const spanOptions = { kind: KINDS[kind], attributes: copied(attributes) };
      const span = tracer.startSpan(spanName, spanOptions, parent);
      const context = trace.setSpan(parent, span).setValue(IS_CALL, kind === 'client');
      return wrap(span, context, current);
    },
    annotate(attributes) {
      const context = current.getStore();
      if (context?.getValue(IS_CALL) !== true) return;
      trace.getSpan(context)?.setAttributes(copied(attributes));
    },
    headers() {
      const carrier: Record<string, string> = {};
      const context = current.getStore();
      if (context !== undefined) propagator.inject(context, carrier, defaultTextMapSetter);
      return carrier;
    },
    async close() {
      // The SDK reports failures to its handler, except those of the last batches.
      await withTimeout(provider.shutdown(), CLOSE_MS_MAX).catch(reportFailure);
    },
  };
}

function wrap(span: OtelSpan, context: Context, current: AsyncLocalStorage<Context>): Span {
  return {
    traceId: span.spanContext().traceId,
    run: (work) => current.run(context, work),
    set: (attributes) => void span.setAttributes(copied(attributes)),
    end(errorType) {
      if (errorType !== undefined) {
        span.setAttribute('error.type', errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The SDK requires mutable lists. */
const copied = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'object' ? [...value] : value,
    ]),
  );

function createFailureReport(log: Log): (error: unknown) => void {
  let warnedAt = -Infinity;
  return (error) => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    log.warn({ reason: describeError(error) }, 'sending traces failed');
  };
}
