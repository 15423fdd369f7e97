export { createBackend, resolveKind } from './create-backend.ts';
export type { UpstreamTimeouts } from './upstream-http.ts';
export { upstreamSettings } from './settings.ts';
