import type { RpcAuth, RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { CallContext } from './call-context.ts';

/** The implementation of a method. */
export type Handler<Name extends RpcMethodName> = (
  params: RpcParams<Name>,
  context: CallContext<RpcAuth<Name>>,
) => Promise<RpcResult<Name>>;

/** One handler for every declared method. */
export type Handlers = { readonly [Name in RpcMethodName]: Handler<Name> };
