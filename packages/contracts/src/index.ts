export { BACKEND_HELP, explainedReason } from './backend-help.ts';
export {
  AGENT_CLOSE_CODES,
  AGENT_FRAME_BYTES_MAX,
  AGENT_HEARTBEAT_SECS_MAX,
  AGENT_HEARTBEAT_SECS_MIN,
  AGENT_METHODS,
  agentDeployedSchema,
  agentDeploySchema,
  agentHeartbeatSchema,
  agentHelloSchema,
  agentProgressSchema,
  agentStopSchema,
  agentWelcomeSchema,
  type AgentGpu,
  type AgentHeartbeat,
  type AgentHello,
  type AgentModel,
  type AgentProgress,
} from './agent/frames.ts';
export {
  HTTP_TUNNEL_VERSION,
  tunneledRequestSchema,
  tunneledResponseSchema,
  type TunneledRequest,
  type TunneledResponse,
} from './agent/tunneled-http.ts';
export { AUDIT_GENESIS_HASH, auditContent } from './audit-content.ts';
export { boundedRecord } from './bounded-record.ts';
export {
  ServiceError,
  STORE_RETRY_SECS,
  UpstreamError,
  type ErrorCode,
  type UpstreamErrorFields,
} from './errors.ts';
export { ERROR_HELP } from './error-help.ts';
export { boundedArray } from './bounded-array.ts';
export { countFields, namedChoices, namedTokens, NO_LIMIT, tokenCount } from './counts.ts';
export { keepWritten, readWritten } from './written-numbers.ts';
export { anyObject, passFurtherFields } from './open-object.ts';
export { problemText } from './problem-text.ts';
export { clipped, invalidParam, parsedRequest, refusalOf } from './problems.ts';
export { RPC_ERROR_CODES } from './rpc/error-codes.ts';
export {
  aliasChangedSchema,
  aliasListSchema,
  aliasRemovalSchema,
  aliasRequestSchema,
} from './rest/aliases.ts';
export { auditExportSchema } from './rest/audit.ts';
export {
  backendAdditionSchema,
  backendChangeSchema,
  backendKindSchema,
  backendListSchema,
  backendOptionsSchema,
  backendRegisteredSchema,
  backendRemovalSchema,
  backendRemovedSchema,
  backendRequestSchema,
  backendTestRequestSchema,
  backendTestSchema,
  backendViewSchema,
} from './rest/backends.ts';
export {
  chatCompletionSchema,
  chatRequestSchema,
  tokenUsageSchema,
  upstreamCompletionSchema,
  type ChatMessage,
  type ChatRequest,
  type TokenUsage,
  type UpstreamCompletion,
} from './rest/chat.ts';
export {
  embeddingListSchema,
  embeddingsRequestSchema,
  type EmbeddingsRequest,
} from './rest/embeddings.ts';
export {
  completionsRequestSchema,
  imagesAnswerSchema,
  imagesRequestSchema,
  moderationsAnswerSchema,
  moderationsRequestSchema,
  rerankAnswerSchema,
  rerankRequestSchema,
  speechRequestSchema,
  textCompletionSchema,
  transcriptionSchema,
  uploadFieldsSchema,
  uploadFormSchema,
} from './rest/relayed.ts';
export { restErrorSchema, type RestErrorBody } from './rest/errors.ts';
export {
  modelEntrySchema,
  modelListSchema,
  type ModelEntry,
  type ModelList,
} from './rest/models.ts';
export { routeExplanationSchema, routeQuerySchema, type RouteExplanation } from './rest/route.ts';
export { usageQueryResultSchema, usageQuerySchema } from './rest/usage-query.ts';
export { shortSideOf, submittedResolution } from './video-resolution.ts';
export {
  videoJobSchema,
  videoRequestSchema,
  videoSubmittedSchema,
  type VideoJobStatus,
  type VideoJobView,
  type VideoRequest,
} from './rest/video.ts';
export { ANSWER_TTL_SECS_MAX } from './rpc/namespaces/answer-cache.ts';
export { auditEntry } from './rpc/namespaces/audit.ts';
export { CONVERSATION_TITLE_DEFAULT } from './rpc/namespaces/conversations.ts';
export type { AuthLevel, MethodContract } from './rpc/method.ts';
export type { RequestFilter } from './rpc/namespaces/spend.ts';
export {
  rpcMethods,
  type RpcAuth,
  type RpcInput,
  type RpcMethodName,
  type RpcParams,
  type RpcResult,
} from './rpc/methods.ts';
export {
  rpcNotifications,
  type RpcNotification,
  type RpcNotificationParams,
} from './rpc/notifications.ts';
export { openRpcDocument, type OpenRpcDocument } from './rpc/openrpc.ts';
export {
  PASSWORD_CHARS_MAX,
  email as emailSchema,
  isAscii,
  type BudgetPeriod,
  type VideoResult,
} from './rpc/namespaces/records.ts';
export { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from './rpc/namespaces/webhooks.ts';
export {
  isSessionId,
  SESSION_LISTENERS_CHANNEL,
  sessionChannel,
  sessionOwnerKey,
  userSessionChannel,
} from './rpc/namespaces/sessions.ts';
export { ATTEMPTS_MAX, type RequestAttempt } from './request-attempt.ts';
export {
  readRequestNotice,
  requestNotice,
  REQUESTS_CHANNEL,
  type RequestNotice,
} from './request-notice.ts';
export { usageEventSchema, type UsageEvent } from './usage-event.ts';
export { failedRequestsSchema, type FailedRequest } from './failed-requests.ts';
export type { ProviderHint } from './rest/provider.ts';
export { mediaTokens, type MediaTokens } from './media-tokens.ts';
export { priceRecord, type PriceRecord, type PriceSource } from './price.ts';
export {
  readMediaTokens,
  readCachedTokens,
  readCacheWriteTokens,
  readUsage,
} from './rest/read-usage.ts';
export type {
  AnswerPart,
  AssistantMessage,
  AssistantPart,
  ChangeText,
  FilePart,
  FinishReason,
  FunctionTool,
  ImagePart,
  MediaSource,
  OutputFormat,
  OwnForm,
  ReasoningOptions,
  ReasoningPart,
  SystemMessage,
  TextPart,
  TextSlot,
  ToolCallPart,
  ToolChoice,
  ToolMessage,
  Turn,
  TurnAnswer,
  TurnEvent,
  TurnMessage,
  TurnUsage,
  UpstreamChat,
  UpstreamTurn,
  UrlCitation,
  UserPart,
} from './turn.ts';
