export type {
  Dialect,
  DialectRequest,
  DialectStream,
  OwnRequest,
  PassedStream,
  StreamFailure,
  StreamHead,
} from './dialect.ts';
export { messagesDialect } from './messages/index.ts';
export { countTokensRequest, MESSAGES_API, messagesBodySchema } from './messages/request.ts';
export { responsesBodySchema, type Item } from './responses/body.ts';
export { responsesDialect } from './responses/index.ts';
export {
  completeRequest,
  referencesOf,
  resolvedInput,
  RESPONSES_API,
  type ResponsesRequest,
} from './responses/request.ts';
export { isInputItem, responseOfItem } from './responses/item-id.ts';
export { storedItems } from './responses/stored-items.ts';
export { answerOfChat, chatUsage, createChunkReader } from './turn/answer-of-chat.ts';
export { reasoningEffort } from './turn/chat-of-turn.ts';
export { callSignatureFields, callSignatureOf, isSealed } from './turn/call-signatures.ts';
export { originIn, withOrigin } from './turn/origin.ts';
export { imageFields } from './turn/generated-images.ts';
export { reasoningFields } from './turn/reply-parts.ts';
export { CHAT_API, chatTurn, ownTurn, TOOL_ERROR } from './turn/upstream-turn.ts';
export { usageSoFar, withUsageSoFar } from './turn/usage-so-far.ts';
export { citationFields } from './turn/url-citations.ts';
