export { assertModelAllowed } from './assert-model-allowed.ts';
export { attempt, type Attempted, type Wanted } from './attempts.ts';
export { jwtCaller, type Caller } from './caller.ts';
export type { ChatDependencies, ChatTurn } from './chat-turn.ts';
export { completeChat, type ChatAnswer } from './complete-chat.ts';
export { embedTexts, type EmbeddingsAnswer, type EmbeddingsTurn } from './embed-texts.ts';
export { createMemoryEvents, type MemoryEvent, type MemoryEventStore } from './memory-events.ts';
export type { MemoryService } from './memory-service.ts';
export { createDisabledMemory, createMemory, type Memory, type MemoryState } from './memory.ts';
export { invokeEngine } from './invoke-engine.ts';
export { createMeter, type Meter, type ServedRequest } from './meter.ts';
export { acceptChat, produceChat, type ChatEnd } from './produce-chat.ts';
export {
  createQuotas,
  drawingAccountOf,
  hasQuota,
  type Payer,
  type QuotaHints,
  type Quotas,
} from './quotas.ts';
export type { ChatDelta } from './read-deltas.ts';
export { readyTurn, type ReadyTurn } from './ready-turn.ts';
export { openRealtime, type OpenRealtime } from './realtime/open-realtime.ts';
export {
  createRealtimeObserver,
  type EndedResponse,
  type RealtimeObserver,
} from './realtime/realtime-observer.ts';
export { createRequestCounter, type RequestCounter } from './request-counter.ts';
export { streamChat, type EventTaker, type StreamedChat } from './stream-chat.ts';
export { createSystemMonitor, type SystemMonitor, type SystemStatus } from './system-monitor.ts';
export {
  upstreamVideo,
  videoResultOf,
  videoShapeOf,
  type FinishedVideo,
} from './video/upstream-video.ts';
export type { NewVideoJob, VideoJobStore } from './video/video-job-store.ts';
export { viewVideoJob } from './video/video-job-view.ts';
export type {
  VideoImage,
  VideoJob,
  VideoOrder,
  VideoPayer,
  VideoPoll,
  VideoWork,
} from './video/video-job.ts';
export { createVideoJobs, VIDEO_QUEUED_CHANNEL, type VideoJobs } from './video/video-jobs.ts';
export { createVideoNotifications, type VideoNotifications } from './video/video-notifications.ts';
export { createUnsettledUsage, type UnsettledUsage } from './unsettled-usage.ts';
export { createUsageCounts, type UsageCounts } from './usage-counts.ts';
export { createUpstreamWatch, type UpstreamCall, type UpstreamWatch } from './upstream-watch.ts';
