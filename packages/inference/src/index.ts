export { assertModelAllowed } from './assert-model-allowed.ts';
export { attempt, type Attempted, type Wanted } from './attempts.ts';
export type { Caller } from './caller.ts';
export type { ChatDependencies, ChatTurn } from './chat-turn.ts';
export { completeChat, type ChatAnswer } from './complete-chat.ts';
export { embedTexts, type EmbeddingsAnswer, type EmbeddingsTurn } from './embed-texts.ts';
export { createMeter, type Meter, type ServedRequest } from './meter.ts';
export {
  createQuotas,
  drawingAccountOf,
  hasQuota,
  type Payer,
  type QuotaHints,
  type Quotas,
} from './quotas.ts';
export { createRequestCounter, type RequestCounter } from './request-counter.ts';
export { streamChat, type StreamedChat } from './stream-chat.ts';
export { createSystemMonitor, type SystemMonitor, type SystemStatus } from './system-monitor.ts';
