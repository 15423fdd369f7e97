import type { Group, GroupAction } from '@model-gateway/accounts';
import type { RpcAuth, RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { AuditRule, NoAudit } from '../audit/audit-rule.ts';
import type { AuditedContext, CallContext } from './call-context.ts';

/** The implementation of a method. */
export type Handler<Name extends RpcMethodName, More = unknown> = (
  params: RpcParams<Name>,
  context: CallContext<RpcAuth<Name>> & GroupContext<Name> & More,
) => Promise<RpcResult<Name>>;

/** A method about one group gets the group, which the caller was authorized for. */
type GroupContext<Name> = Name extends GroupAction ? { readonly group: Group } : unknown;

/** How the last part of the name says that a method only reads. */
type Reading =
  | 'balance'
  | 'check'
  | 'deliveries'
  | 'explain'
  | 'get'
  | 'kinds'
  | 'list'
  | 'me'
  | 'plan'
  | 'self'
  | 'settings'
  | 'status'
  | 'summary'
  | 'verify'
  | 'watch';

/** A method that changes something says how this is recorded, or why it is not. */
export type ChangingMethod<Name extends RpcMethodName> =
  | {
      readonly audit: AuditRule<Name> | NoAudit;
      /**
       * `transaction`, the default: the handler runs in one transaction with the entry. `after`: the change has no single
       * transaction, and the entry follows it.
       */
      readonly entry?: 'transaction' | 'after';
      readonly handle: Handler<Name>;
    }
  | {
      readonly audit: AuditRule<Name>;
      /** The handler itself runs its change in one transaction with the entry, and does slow work outside of it. */
      readonly entry: 'handler';
      readonly handle: Handler<Name, AuditedContext>;
    };

/** One method for every declared one: a function, or an object if it changes something. */
export type Handlers = {
  readonly [Name in RpcMethodName]: Name extends `${string}.${Reading}`
    ? Handler<Name>
    : ChangingMethod<Name>;
};

/** The methods whose name begins with a namespace, such as `group.members`. */
export type HandlersOf<Namespace extends string> = Pick<
  Handlers,
  Extract<RpcMethodName, `${Namespace}.${string}`>
>;
