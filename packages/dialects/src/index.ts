export type { Dialect, DialectRequest } from './dialect.ts';
export { answerOfChat, createChunkReader } from './turn/answer-of-chat.ts';
export { keepOrigin } from './turn/origin.ts';
export type { TurnAnswer } from './turn/turn.ts';
