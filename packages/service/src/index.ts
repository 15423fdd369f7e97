export { createCachedKeys } from './cached-keys.ts';
export { createEntryRules } from './entry-rules.ts';
export { createServiceRouter, type ServiceRouter } from './service-router.ts';
export { createSignIns, type SignIns } from './sign-ins.ts';
export { routingSettings, inferenceRuntimeSettings } from './inference-runtime-settings.ts';
export { createInferenceRuntime, type InferenceRuntime } from './inference-runtime.ts';
