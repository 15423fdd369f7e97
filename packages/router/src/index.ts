export type { AgentCensus, AgentCounts } from './agent-census.ts';
export type { BackendConfig, BackendConfigStore } from './backend-config-store.ts';
export {
  BACKEND_KINDS,
  CAPABILITIES,
  type Backend,
  type BackendKind,
  type Capability,
  type ChatChunk,
  type EmbeddingInput,
  type HealthState,
  type Probe,
  type RealtimeEvent,
  type RealtimeLink,
  type RealtimeOpening,
  type UpstreamAnswer,
  type UpstreamChat,
  type UpstreamEmbedding,
  type UpstreamEmbeddings,
  type UpstreamEvent,
  type UpstreamStream,
  type UpstreamVideo,
  type VideoTask,
} from './backend.ts';
export type { Outcome } from './breakers.ts';
export type { ChoiceOptions, Route } from './chooser.ts';
export type {
  Circuit,
  CircuitRules,
  CircuitState,
  CircuitStore,
  CircuitTrial,
} from './circuit-store.ts';
export type { Alias, Aliases } from './aliases.ts';
export { createLocalCircuits, type LocalCircuits } from './local-circuits.ts';
export type { BackendBuilder, Registry } from './registry.ts';
export {
  createRouter,
  type RoutedBackend,
  type Router,
  type RouterDependencies,
} from './router.ts';
export { routerSettings } from './settings.ts';
export { UpstreamFailure } from './upstream-failure.ts';
