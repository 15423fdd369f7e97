import type { Target } from '../target.ts';
import { rest } from './rest.ts';
import { rpcHttp } from './rpc-http.ts';
import { rpcSocket } from './rpc-socket.ts';

/** Every target, in the order in which they run. */
export const targets = [rpcHttp, rpcSocket, rest] as readonly unknown[] as readonly Target[];
