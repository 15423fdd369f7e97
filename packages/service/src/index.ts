export { createBackendAdmin, type BackendAdmin } from './backend-admin/backend-admin.ts';
export { backendState } from './backend-admin/backend-state.ts';
export { backendEntry } from './backend-admin/backend-view.ts';
export { checkConfigFile } from './config-file/check-config-file.ts';
export { createCheckConfigText } from './config-file/check-config-text.ts';
export { routeRuleOf } from './config-file/route-rule-of.ts';
export { createServiceRouter, type ServiceRouter } from './service-router.ts';
export { routingSettings, inferenceRuntimeSettings } from './inference-runtime-settings.ts';
export { createInferenceRuntime, type InferenceRuntime } from './inference-runtime.ts';
