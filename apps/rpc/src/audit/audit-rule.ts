import type { RpcMethodName, RpcParams, RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { CallerFacts } from '../protocol/dispatcher.ts';

/** A call that changes something; `result` is known after the change. */
export interface AuditedCall<Name extends RpcMethodName = RpcMethodName> {
  readonly params: RpcParams<Name>;
  readonly userId: string | undefined;
  readonly result: RpcResult<Name> | undefined;
  /** What the handler itself reported of the change. */
  readonly changed: unknown;
}

/** What the audit log shows of the changes of a method. No secrets, and nothing that names a person. */
export interface AuditRule<Name extends RpcMethodName = RpcMethodName> {
  /** What is changed. Asked before the change, and again after it if it was not known. */
  target(
    call: AuditedCall<Name>,
    stores: DatabaseStores,
  ): Promise<string | undefined> | string | undefined;
  /** Asked after the change; without it, every change has an entry. */
  isRecorded?(call: AuditedCall<Name>, caller: CallerFacts): boolean;
  /** What `before` and `after` show; without it, `after` shows the params. */
  state?(call: AuditedCall<Name>, stores: DatabaseStores): unknown;
}

/** A method that is not in the audit log, and why. */
export interface NoAudit {
  readonly none: string;
}

export const OWN: NoAudit = { none: 'users change only what is their own' };
export const WORK: NoAudit = { none: 'it is metered work of the caller, and changes no setting' };
export const TEST: NoAudit = { none: 'it sends a test, and changes no setting' };
