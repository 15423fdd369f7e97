import type { RpcAuth, RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { CallContext } from './call-context.ts';

/** What answers a method. */
export type Handler<Name extends RpcMethodName> = (
  params: RpcParams<Name>,
  context: CallContext<RpcAuth<Name>>,
) => Promise<RpcResult<Name>>;

/** One handler for every method that was declared. */
export type Handlers = { readonly [Name in RpcMethodName]: Handler<Name> };
