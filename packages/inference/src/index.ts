export type { Caller } from './caller.ts';
export { completeChat, type ChatAnswer, type ChatTurn } from './complete-chat.ts';
export { createMeter, type Meter, type ServedRequest } from './meter.ts';
