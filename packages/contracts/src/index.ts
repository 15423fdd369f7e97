export { ERROR_CODES, ServiceError, type ErrorCode } from './errors.ts';
export { backendRegisteredSchema, backendRequestSchema } from './rest/backends.ts';
export {
  chatCompletionSchema,
  chatRequestSchema,
  tokenUsageSchema,
  upstreamCompletionSchema,
  type ChatCompletion,
  type ChatRequest,
  type TokenUsage,
  type UpstreamCompletion,
} from './rest/chat.ts';
export { restErrorSchema, type RestErrorBody } from './rest/errors.ts';
export type { AuthLevel, MethodContract } from './rpc/method.ts';
export {
  rpcMethods,
  type RpcAuth,
  type RpcMethodName,
  type RpcParams,
  type RpcResult,
} from './rpc/methods.ts';
export { usageEventSchema, type UsageEvent } from './usage-event.ts';
