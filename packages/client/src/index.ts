export type { RpcResponse } from './envelope.ts';
export type { RpcEvent } from './event-parser.ts';
export type { RpcSubscription } from './event-stream.ts';
export { isListMethod, listAll, type ListMethodName } from './list-all.ts';
export { randomId } from './random-id.ts';
export {
  createRpcClient,
  type RpcBatchCall,
  type RpcCallArguments,
  type RpcCallOptions,
  type RpcClient,
  type RpcClientOptions,
  type RpcOutcome,
} from './rpc-client.ts';
export { RpcCallError, RpcConnectionError, type RpcConnectionProblem } from './rpc-errors.ts';
export type { WebSocketConstructor, WebSocketLike } from './websocket-connection.ts';
