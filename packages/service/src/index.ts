export { createEntryRules } from './entry-rules.ts';
export { createServiceRouter, type ServiceRouter } from './service-router.ts';
export { routingSettings, inferenceRuntimeSettings } from './inference-runtime-settings.ts';
export { createInferenceRuntime, type InferenceRuntime } from './inference-runtime.ts';
