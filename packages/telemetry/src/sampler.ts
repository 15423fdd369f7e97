import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { SAMPLERS } from './settings.ts';

/** Which traces are kept. */
export interface Sampling {
  readonly kind: (typeof SAMPLERS)[number];
  /** The share of traces to keep, from 0 to 1; used by the ratio kinds. */
  readonly ratio: number;
}

/** The sampler that the standard variables name; OpenTelemetry's own parser is part of a larger package. */
export function createSampler({ kind, ratio }: Sampling): Sampler {
  const byParent = (root: Sampler): Sampler => new ParentBasedSampler({ root });
  switch (kind) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return byParent(new AlwaysOnSampler());
    case 'parentbased_always_off':
      return byParent(new AlwaysOffSampler());
    case 'parentbased_traceidratio':
      return byParent(new TraceIdRatioBasedSampler(ratio));
  }
}
