export type { ForwardTarget } from './bridge/tcp-forward.ts';
export {
  startBridgeAgent,
  type BridgeAgentOptions,
  type BridgeMethod,
  type RunningBridgeAgent,
} from './bridge/bridge-agent.ts';
export {
  startChatUpstream,
  type ChatFault,
  type ChatOperation,
  type ChatUpstreamOptions,
  type RunningChatUpstream,
} from '@model-gateway/demo-model';
export type {
  FaultPlan,
  RecordedRequest,
  Served,
  ServedTotals,
} from '@model-gateway/demo-model/server-parts';
export {
  startCloudVideo,
  type CloudVideoOptions,
  type RunningCloudVideo,
  type VideoFault,
  type VideoOperation,
} from './cloud-video/cloud-video.ts';
export type { VideoTask, VideoTaskStatus } from './cloud-video/video-tasks.ts';
export { startEngine, type EngineOptions, type RunningEngine } from './engine/engine.ts';
export type { EngineFault, EngineMethod } from './engine/engine-faults.ts';
export type { RpcFault } from './faults/rpc-faults.ts';
export {
  startMemoryService,
  type MemoryMethod,
  type MemoryNode,
  type RunningMemoryService,
} from './memory/memory-service.ts';
export {
  startOllamaServer,
  type OllamaFault,
  type OllamaOperation,
  type OllamaServerOptions,
  type RunningOllamaServer,
} from './ollama/ollama-server.ts';
export {
  startRealtimeApi,
  type RealtimeApiOptions,
  type RunningRealtimeApi,
} from './realtime/realtime-api.ts';
export type { RealtimeFault, RealtimeOperation } from './realtime/realtime-faults.ts';
