export { openTracing } from './open-tracing.ts';
export { tracingSettings } from './settings.ts';
