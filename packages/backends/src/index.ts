export { createBackend, resolveKind } from './create-backend.ts';
export type { UpstreamTimeouts } from './external/external-backend.ts';
export { upstreamSettings } from './settings.ts';
