export type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
