import type { CounterSeries, Metrics } from '@model-gateway/kernel';

/** Counts the points that were paid, for usage of every kind. */
export const createPointsCount = (metrics: Metrics): CounterSeries =>
  metrics
    .counter({ name: 'service_points_paid_total', help: 'Points that were paid for usage.' })
    .series({});
