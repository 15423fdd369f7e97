export { checkConfigFile } from './config-file/check-config-file.ts';
export { createCheckConfigText } from './config-file/check-config-text.ts';
export { createEntryRules } from './entry-rules.ts';
export { routeRuleOf } from './config-file/route-rule-of.ts';
export { createServiceRouter, type ServiceRouter } from './service-router.ts';
export { routingSettings, inferenceRuntimeSettings } from './inference-runtime-settings.ts';
export { createInferenceRuntime, type InferenceRuntime } from './inference-runtime.ts';
