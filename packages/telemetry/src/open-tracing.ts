import type { ConfigOf, Lifecycle, Log, Tracing } from '@model-gateway/kernel';
import type { tracingSettings } from './settings.ts';

interface TracingConfig extends ConfigOf<typeof tracingSettings> {
  /** The app, as it is named in traces. */
  readonly name: string;
}

/** Opens the way to a collector where one is configured; otherwise nothing is loaded and there is no tracing. */
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
