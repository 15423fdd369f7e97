export {
  isRpcFailure,
  serializeMessage,
  isMessage,
  RPC_ERRORS,
  type RpcMessage,
} from './messages.ts';
export { createPendingCalls } from './pending-calls.ts';
