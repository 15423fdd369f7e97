export type { Caller } from './caller.ts';
export { completeChat, type ChatAnswer, type ChatTurn } from './complete-chat.ts';
export { createMeter, type Meter, type ServedRequest } from './meter.ts';
export { createRequestCounter, type RequestCounter } from './request-counter.ts';
export { createSystemMonitor, type SystemMonitor, type SystemStatus } from './system-monitor.ts';
