import type { z } from 'zod';
import { authMethods } from './auth.ts';
import { keysMethods } from './keys.ts';
import { usageMethods } from './usage.ts';

/** Every method of the management plane, by name. */
export const rpcMethods = { ...authMethods, ...keysMethods, ...usageMethods };

export type RpcMethodName = keyof typeof rpcMethods;

/** What a handler is given: the params after validation. */
export type RpcParams<Name extends RpcMethodName> = z.output<(typeof rpcMethods)[Name]['params']>;

/** What a handler answers. */
export type RpcResult<Name extends RpcMethodName> = z.input<(typeof rpcMethods)[Name]['result']>;

/** The auth level that a method was declared with. */
export type RpcAuth<Name extends RpcMethodName> = (typeof rpcMethods)[Name]['auth'];
