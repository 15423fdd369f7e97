export type { AgentCounter, AgentCounts } from './agents/agent-counter.ts';
export {
  AGENT_CAPABILITIES,
  AGENT_TUNNEL_PATH,
  agentBackend,
  agentBackendName,
  isTunneled,
  tunnelKey,
  tunneledUrl,
} from './agents/agent-registration.ts';
export {
  createAgentCommands,
  type AgentCommand,
  type AgentCommandAnswer,
  type AgentCommands,
} from './agents/agent-commands.ts';
export {
  IGNORED,
  onlineSince,
  READY,
  type AgentGpu,
  type AgentNode,
  type DeployedModel,
} from './agents/agent-node.ts';
export type {
  AgentHeartbeat,
  AgentConnections,
  AgentStore,
  AgentTelemetry,
  AuthenticatedAgent,
  BrokenDeploy,
  DeployBegin,
  NodeConnection,
  PlacedBackend,
  PlacementOptions,
  ReachableModel,
  SilentNode,
} from './agents/agent-store.ts';
export { agentAliveKey, createStaleAgentCheck } from './agents/stale-agent-check.ts';
export { serveTunnelProcess } from './agents/tunnel-process.ts';
export { createAgents, type Agents, type AgentState } from './agents/agents.ts';
export {
  createDeployNotices,
  failureNotices,
  type DeployNotice,
  type DeployNotices,
} from './agents/deploy-notices.ts';
export { createBackendAnnouncer, type BackendAnnouncer } from './registry/backend-announcer.ts';
export type {
  BackendConfig,
  BackendConfigStore,
  StoredBackendConfig,
} from './registry/backend-config-store.ts';
export {
  UPSTREAM_APIS,
  CAPABILITIES,
  isRelayedCapability,
  type AnswerWatch,
  type Backend,
  type UpstreamApi,
  type KindFacts,
  type Capability,
  type EmbeddingInput,
  type RelayedAnswer,
  type RelayedCapability,
  type RelayedContent,
  type Probe,
  type RealtimeEvent,
  type RealtimeLink,
  type RealtimeOpening,
  type StreamedBody,
  type UpstreamAnswer,
  type UpstreamEmbedding,
  type UpstreamEmbeddings,
  type UpstreamEvent,
  type UpstreamStream,
  type UpstreamVideo,
  type VideoCharge,
  type VideoTask,
} from './registry/backend.ts';
export type { AllowsModel, TargetName } from './choice/choice.ts';
export type { ChoiceOptions } from './choice/chooser.ts';
export type { Lease } from './choice/lease.ts';
export type { ChoiceTrace, SkippedTarget } from './choice/choice-trace.ts';
export type { ExplainedTarget } from './choice/explain.ts';
export type { AnswerKind } from './choice/first-tokens.ts';
export {
  appliedLimits,
  LIMIT_NAMES,
  type BackendLimits,
  type LimitName,
} from './limits/backend-limits.ts';
export { PLACE_KEPT_MS, type LimitStore } from './limits/limit-store.ts';
export { createLocalLimits } from './limits/local-limits.ts';
export type { Circuit, CircuitStore } from './circuits/circuit-store.ts';
export type { Aliases } from './choice/aliases.ts';
export { forbidsAnother } from './choice/provider-match.ts';
export { matchModel } from './choice/aliases.ts';
export { QUICK_START_MODELS, QUICK_START_OWNER } from './choice/quick-start-models.ts';
export { createLocalCircuits } from './circuits/local-circuits.ts';
export { fingerprintOf, type BackendBuilder, type Changed } from './registry/registry.ts';
export type { HealthReport } from './health/health-report.ts';
export { exposeBackends } from './expose-backends.ts';
export { createRouter, type BackendStatus, type ListedModel, type Router } from './router.ts';
export { agentSettings, routerSettings } from './settings.ts';
export {
  DEFAULT_RETRIES,
  RETRY_REASONS,
  ROUTE_STRATEGIES,
  type RetryReason,
  type RouteRule,
} from './routes/route-rule.ts';
export { ROUTES_CHANNEL, type RouteRuleStore } from './routes/route-rule-store.ts';
export { outcomeOf, type RouteOutcome } from './refusals/outcome.ts';
export { UnsupportedByBackend, UpstreamFailure } from './registry/upstream-failure.ts';
