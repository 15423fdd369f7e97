import { oneOf, optional, setting, urlWith, withDefault } from '@model-gateway/kernel';
import { z } from 'zod';

/** The samplers of the standard variable. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d+|1\.0+)$/, 'a number from 0 to 1')
  .transform(Number);

/** Tracing settings of every server process. The exporter reads its other standard variables itself. */
export const tracingSettings = {
  tracesEndpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', optional(urlWith('http', 'https')), {
    description:
      'The OpenTelemetry collector that traces are sent to, as JSON over HTTP; the other standard variables of OTLP exporters (headers, timeout, compression), `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` also apply.',
    defaultText: 'unset: no traces, and OpenTelemetry is not loaded',
  }),
  tracesSampler: setting(
    'OTEL_TRACES_SAMPLER',
    withDefault(oneOf(...SAMPLERS), 'parentbased_always_on'),
    {
      description: `Which traces are kept: ${SAMPLERS.join(', ')}.`,
    },
  ),
  tracesRatio: setting('OTEL_TRACES_SAMPLER_ARG', withDefault(ratio, 1), {
    description: 'The share of traces that a `traceidratio` sampler keeps, from 0 to 1.',
  }),
};
