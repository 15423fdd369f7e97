export { createServiceRouter } from './service-router.ts';
export {
  routingSettings,
  inferenceRuntimeSettings,
  type RoutingConfig,
  type InferenceRuntimeConfig,
} from './inference-runtime-settings.ts';
export { createInferenceRuntime, type InferenceRuntime } from './inference-runtime.ts';
