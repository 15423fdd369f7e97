export { CACHED_BYTES_MAX, createAnswerCache, type AnswerCache } from './cache/answer-cache.ts';
export type { StatefulFields } from './cache/stateless.ts';
export {
  admit,
  admitFree,
  type AdmitServices,
  type AdmittedContext,
  type AskedCall,
  type CountedCall,
} from './call/admit.ts';
export type {
  AdmittedCall,
  CallContext,
  CallLog,
  Grant,
  Hook,
  Identity,
  NamedModels,
} from './call/call.ts';
export { logFailedCall, type CallFailure } from './call/call-log.ts';
export { callOfUser, rightsOfKey } from './call/grants.ts';
export { runCall, type CallServices, type RunContext, type RunningCall } from './call/run-call.ts';
export { settle, type AnsweredBy } from './call/settle.ts';
export { isServable } from './chat/model-rules.ts';
export { jwtCaller, type Caller } from './chat/caller.ts';
export { ChatTurn, type TurnServices } from './chat/chat-turn.ts';
export { completeChat } from './chat/complete-chat.ts';
export { embedTexts, expectedEmbeddings } from './chat/embed-texts.ts';
export {
  createMemoryEvents,
  type MemoryEvent,
  type MemoryEventStore,
} from './memory/memory-events.ts';
export { createMemoryHook } from './memory/memory-hook.ts';
export type { MemoryService } from './memory/memory-service.ts';
export {
  createDisabledMemory,
  createMemory,
  type Memory,
  type MemoryState,
} from './memory/memory.ts';
export { invokeEngine } from './chat/invoke-engine.ts';
export { endOf, SERVED_STATUS } from './usage/served-status.ts';
export { createMeter, type Meter } from './usage/meter.ts';
export { createModelPrices } from './quota/model-prices.ts';
export { createQuotas, type Quotas } from './quota/quotas.ts';
export { errorEvent } from './stream/error-event.ts';
export {
  EXPECTED_NOTHING,
  expectedChat,
  jobEnd,
  type ExpectedUsage,
  type Reservation,
} from './quota/reservation.ts';
export type { ChatDelta } from './stream/chat-delta.ts';
export {
  RELAYED_OPERATIONS,
  type RelayedFields,
  type RelayedOperation,
} from './relay/operations.ts';
export { relayCall, type RelayedResponse } from './relay/relay-call.ts';
export {
  expectedRelayed,
  isGatewayField,
  jsonSource,
  streamsText,
  type RelayedCall,
  type RelayedSource,
} from './relay/relayed-call.ts';
export { createConversationHook } from './chat/history/turn-record.ts';
export { findStoredHistory, HISTORY_LIMITS } from './chat/history/stored-history.ts';
export { createStorageLimit, type StorageLimit } from './storage/storage-limit.ts';
export { openRealtime, type OpenRealtime } from './realtime/open-realtime.ts';
export { createRealtimeObserver, type EndedResponse } from './realtime/realtime-observer.ts';
export { createKeepBodies, type CallBodies, type KeepBodies } from './usage/kept-bodies.ts';
export { createRequestTrace } from './usage/request-trace.ts';
export { createRequestLogWriter, type RequestLogWriter } from './usage/request-log-writer.ts';
export { createRequestCounter, type RequestCounter } from './usage/request-counter.ts';
export { estimatePrompt, estimatePromptInSteps } from './usage/estimate-usage.ts';
export { streamTurn, type StreamCut, type TurnEnd } from './chat/stream-turn.ts';
export { deltasOf } from './stream/chat-delta.ts';
export { createUsageWriter } from './usage/usage-writer.ts';
export { createSystemMonitor, type SystemMonitor } from './usage/system-monitor.ts';
export {
  upstreamVideo,
  videoResultOf,
  videoShapeOf,
  type FinishedVideo,
} from './video/upstream-video.ts';
export type { NewVideoJob, VideoJobStore } from './video/video-job-store.ts';
export { viewVideoJob } from './video/video-job-view.ts';
export type { CancelledTask, VideoJob, VideoPoll, VideoWork } from './video/video-job.ts';
export { createVideoJobs, VIDEO_QUEUED_CHANNEL, type VideoJobs } from './video/video-jobs.ts';
export { createVideoNotifications, type VideoNotifications } from './video/video-notifications.ts';
export { inferenceSettings } from './settings.ts';
export { createUsageCounts, type UsageCounts } from './usage/usage-counts.ts';
export { createUpstreamTelemetry, type UpstreamTelemetry } from './upstream/upstream-telemetry.ts';
export type {
  ResponseStore,
  StoredItemSizes,
  StoredResponse,
  StoredResponseSize,
} from './responses/response-store.ts';
export { createExplainRoute } from './upstream/explain-route.ts';
