export { createBackendFactory, type BackendFactory } from './backend-factory.ts';
export { resolveKind } from './backend-kind.ts';
export { createBackend } from './create-backend.ts';
export { createMemoryClient } from './memory/memory-client.ts';
export { memorySettings } from './memory/settings.ts';
export { upstreamSettings } from './settings.ts';
export type { UpstreamTimeouts } from './upstream-http.ts';
