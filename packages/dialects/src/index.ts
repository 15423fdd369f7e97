export type { Dialect, DialectRequest } from './dialect.ts';
export { messagesDialect } from './messages/index.ts';
export { countTokensRequest, messagesBodySchema } from './messages/request.ts';
export { answerOfChat, createChunkReader } from './turn/answer-of-chat.ts';
export { keepOrigin } from './turn/origin.ts';
export type { TurnAnswer } from './turn/turn.ts';
