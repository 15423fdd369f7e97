import type { Group, GroupAction } from '@model-gateway/accounts';
import type { RpcAuth, RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { AuditedContext, CallContext } from './call-context.ts';

/** The implementation of a method. */
export type Handler<Name extends RpcMethodName> = (
  params: RpcParams<Name>,
  context: CallContext<RpcAuth<Name>> & GroupContext<Name> & ChangeContext<Name>,
) => Promise<RpcResult<Name>>;

/** A method about one group gets the group, which the caller was authorized for. */
type GroupContext<Name> = Name extends GroupAction ? { readonly group: Group } : unknown;

type ChangeContext<Name> = Name extends
  | 'auth.register'
  | 'auth.password.change'
  | 'auth.password.reset'
  | 'users.erase'
  | 'webhooks.create'
  ? AuditedContext
  : unknown;

/** One handler for every declared method. */
export type Handlers = { readonly [Name in RpcMethodName]: Handler<Name> };

/** The handlers of all methods whose name begins with a namespace, such as `group.members`. */
export type HandlersOf<Namespace extends string> = Pick<
  Handlers,
  Extract<RpcMethodName, `${Namespace}.${string}`>
>;
