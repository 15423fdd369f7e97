export { startBridgeAgent, type RunningBridgeAgent } from './bridge/bridge-agent.ts';
export { startChatUpstream, type RunningChatUpstream } from './chat/chat-upstream.ts';
export type { ChatFault } from './faults/stream-faults.ts';
export {
  startCloudVideo,
  type RunningCloudVideo,
  type VideoFault,
  type VideoOperation,
} from './cloud-video/cloud-video.ts';
export { startFarProxy, type FarProxy } from './far/far-proxy.ts';
export { startEngine, type EngineOptions, type RunningEngine } from './engine/engine.ts';
export type { EngineFault } from './engine/engine-faults.ts';
export { startScriptedEngine } from './engine/scripted-engine.ts';
export { startMemoryService, type RunningMemoryService } from './memory/memory-service.ts';
export { startOllamaServer, type RunningOllamaServer } from './ollama/ollama-server.ts';
export { startProviderApi } from './providers/provider-api.ts';
export { PROVIDERS } from './providers/providers.ts';
export { startRealtimeApi, type RunningRealtimeApi } from './realtime/realtime-api.ts';
export { startRecordedServer, type RecordedServer } from './recorded-server.ts';
