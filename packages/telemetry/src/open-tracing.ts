import type { ConfigOf, Lifecycle, Log, Tracing } from '@model-gateway/kernel';
import type { tracingSettings } from './settings.ts';

interface TracingConfig extends ConfigOf<typeof tracingSettings> {
  /** The name of the app in traces. */
  readonly name: string;
}

/** Starts tracing where a collector is configured; otherwise OpenTelemetry is not loaded. */
export async function openTracing(
  { name, tracesEndpoint, tracesSampler: kind, tracesRatio: ratio }: TracingConfig,
  lifecycle: Pick<Lifecycle, 'open'>,
  log: Log,
): Promise<Tracing | undefined> {
  if (tracesEndpoint === undefined) return undefined;
  const { createOtelTracing } = await import('./otel-tracing.ts');
  return lifecycle.open(
    'tracing',
    () => createOtelTracing({ name, endpoint: tracesEndpoint, sampling: { kind, ratio }, log }),
    (tracing) => tracing.close(),
  );
}
