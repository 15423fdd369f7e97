export type { Dialect, DialectRequest } from './dialect.ts';
export { messagesDialect } from './messages/index.ts';
export { countTokensRequest, messagesBodySchema } from './messages/request.ts';
export { answerOfChat, chatUsage, createChunkReader } from './turn/answer-of-chat.ts';
export { keepOrigin, originIn } from './turn/origin.ts';
export { reasoningFields } from './turn/reply-parts.ts';
export { turnMessage, turnOfChat } from './turn/turn-of-chat.ts';
export type {
  AssistantPart,
  ReasoningPart,
  Turn,
  TurnAnswer,
  TurnMessage,
  TurnUsage,
  UserPart,
} from './turn/turn.ts';
