import type { CounterSeries, Metrics } from '@model-gateway/kernel';

/** Counts the points paid for usage of every kind. */
export const createPointsCount = (metrics: Metrics): CounterSeries =>
  metrics.counter({ name: 'service_points_paid_total', help: 'Points paid for usage.' }).series({});
