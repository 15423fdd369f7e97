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
export { answerChat } from './chat/answer-chat.ts';
export { createFaultPlan, faultOf, type FaultSource, type FaultPlan } from './faults/fault-plan.ts';
export { applyHttpFaults, type HttpFault } from './faults/http-faults.ts';
export { applyStreamFaults, type ChatFault } from './faults/stream-faults.ts';
export { answerOperation } from './operations/answer-operation.ts';
export { embed } from './operations/embeddings.ts';
export { createChanges, type Changes } from './recording/changes.ts';
export { createRing } from './recording/ring.ts';
export { createServedLog, type Served, type ServedLog } from './recording/served-log.ts';
export type { Exchange } from './wire/exchange.ts';
export { extend } from './wire/extend.ts';
export {
  startHttpServer,
  type HttpServerOptions,
  type RunningHttpServer,
} from './wire/http-server.ts';
export {
  asList,
  asNumber,
  asObject,
  asText,
  isObject,
  parseJson,
  type JsonObject,
} from './wire/json.ts';
export { listen, type ListenOptions } from './wire/listener.ts';
export { runningServer, type RunningServer } from './wire/running-server.ts';
export { sendCut } from './wire/send-cut.ts';
export { writeStream, type Chunk, type StreamOutcome } from './wire/stream-writer.ts';
