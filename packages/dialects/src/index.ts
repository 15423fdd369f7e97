export type {
  Dialect,
  DialectRequest,
  AnswerWriter,
  EventDialect,
  StreamFailure,
  WholeAnswer,
} from './dialect.ts';
export { CLIENT_APIS } from './apis.ts';
export type { NamedSchema, OwnErrors } from './client-api.ts';
export { chatApi } from './chat/api.ts';
export { asksForUsage, chatDialect, chatErrorEvent } from './chat/index.ts';
export { chatParts } from './chat/read-stream.ts';
export { createCallRepair, isWholeCall, wholeCall } from './chat/tool-calls.ts';
export { completionOf } from './chat/write-answer.ts';
export { chatDelta, ChatWriter, type ChunkHead } from './chat/write-stream.ts';
export { messagesErrors } from './messages/api.ts';
export { messagesDialect } from './messages/index.ts';
export { countTokensRequest, MESSAGES_API, messagesBodySchema } from './messages/request.ts';
export type { Item } from './responses/body.ts';
export { responsesApi } from './responses/api.ts';
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
export { DONE, KEEP_ALIVE } from './event-marks.ts';
export { UNSENT_FIELDS } from './gateway-fields.ts';
export { eventsOfAnswer, eventsOfCall } from './turn/answer-events.ts';
export { answerOfChat, failureIn } from './chat/read-answer.ts';
export { reasoningEffort } from './chat/write-request.ts';
export { callSignatureFields, callSignatureOf } from './turn/call-signatures.ts';
export { CHAT_API, chatTurn, ownTurn, TOOL_ERROR } from './turn/upstream-turn.ts';
