export { createCachedKeys } from './cached-keys.ts';
export { createEntryRules } from './entry-rules.ts';
export { createServiceRouter, type ServiceRouter } from './service-router.ts';
export { createSignIns, type SignIns } from './sign-ins.ts';
export { routingSettings, serviceRuntimeSettings } from './service-runtime-settings.ts';
export { createServiceRuntime, type ServiceRuntime } from './service-runtime.ts';
