import type { RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { Router } from '@model-gateway/router';
import type { CallerFacts } from '../protocol/dispatcher.ts';

/** A call that changes something; `result` is known after the change. */
export interface AuditedCall<Name extends RpcMethodName = RpcMethodName> {
  readonly params: RpcParams<Name>;
  readonly userId: string | undefined;
  readonly result: RpcResult<Name> | undefined;
  /** What the handler itself reported of the change. */
  readonly changed: unknown;
}

/** The aliases, which are in the memory of the processes and not in the database. */
export type KnownAliases = Pick<Router['aliases'], 'list'>;

/** How the changes of a method get into the audit log. */
export interface AuditRule<Name extends RpcMethodName = RpcMethodName> {
  /**
   * `transaction`: the handler runs in one transaction with the entry. `handler`: the handler does the same for its change, and
   * does slow work outside of it. `after`: the change has no single transaction, and the entry follows it.
   */
  readonly entry: 'transaction' | 'handler' | 'after';
  /** What is changed. Asked before the change, and again after it if it was not known. */
  target(stores: DatabaseStores, call: AuditedCall<Name>): Promise<string | undefined>;
  /** Asked after the change; without it, every change has an entry. */
  isRecorded?(call: AuditedCall<Name>, caller: CallerFacts): boolean;
  /** What `before` and `after` show; without it, `after` shows the params. */
  state?(stores: DatabaseStores, call: AuditedCall<Name>, aliases: KnownAliases): Promise<unknown>;
}

/** A method without an entry, and why. */
export interface AuditExemption {
  readonly exempt: string;
}

/** What a rule says: `target` may be fixed by the params. */
export const rule = <Name extends RpcMethodName>(
  target: (call: AuditedCall<Name>) => string | undefined,
  state?: AuditRule<Name>['state'],
  entry: AuditRule['entry'] = 'transaction',
): AuditRule<Name> => ({
  entry,
  target: async (_stores, call) => target(call),
  ...(state === undefined ? {} : { state }),
});
