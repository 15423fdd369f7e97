export type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
export type { Backend, HealthState, Probe, UpstreamChat } from './backend.ts';
export { createRouter, type Route, type RoutedBackend, type Router } from './router.ts';
