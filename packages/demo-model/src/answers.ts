// What the demo is made of, for servers that answer like it.
export {
  composeAnswer,
  countCompletionTokens,
  type Answer,
  type AnswerText,
} from './answering/answer.ts';
export { readChatRequest, type ChatRequest } from './answering/chat-request.ts';
export { embeddingOf } from './answering/embedding.ts';
export { countTokens, tokensOf } from './answering/tokens.ts';
export { argumentPieces, type ToolCall } from './answering/tool-calls.ts';
export { createChat } from './chat/chat.ts';
export { chatError } from './chat/completion-shapes.ts';
export { listModels, operationAt, REFUSALS, type JsonAnswer } from './demo-api.ts';
export type { Chunk, Operation, OperationReply } from './operations/operation.ts';
export { OPERATIONS, type OperationName } from './operations/operations.ts';
export { BodyError, readBody } from './wire/body.ts';
export {
  asList,
  asNumber,
  asObject,
  asText,
  isObject,
  parseJson,
  type JsonObject,
} from './wire/json.ts';
export { sse } from './wire/sse.ts';
