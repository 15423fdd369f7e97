export type { AgentCensus, AgentCounts } from './agent-census.ts';
export type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
export {
  BACKEND_KINDS,
  CAPABILITIES,
  type Backend,
  type BackendKind,
  type Capability,
  type ChatChunk,
  type HealthState,
  type Probe,
  type UpstreamChat,
  type UpstreamEmbeddings,
  type UpstreamStream,
  type UpstreamVideo,
  type VideoTask,
} from './backend.ts';
export { createRouter, type Route, type RoutedBackend, type Router } from './router.ts';
export { UpstreamFailure } from './upstream-failure.ts';
