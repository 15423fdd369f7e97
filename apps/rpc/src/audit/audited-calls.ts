import type { AuditActor } from '@model-gateway/accounts';
import { ServiceError, type RpcMethodName } from '@model-gateway/contracts';
import type { Database, DatabaseStores } from '@model-gateway/db';
import { z } from 'zod';
import { createMethods, createMethodsLike } from '../methods/index.ts';
import type { ChangeScope } from '../protocol/call-context.ts';
import type { CallerFacts, PerformCall } from '../protocol/dispatcher.ts';
import type { ChangingMethod } from '../protocol/handlers.ts';
import type { AfterCommit, Services } from '../services.ts';
import type { AuditedCall, AuditRule, NoAudit } from './audit-rule.ts';

interface AuditedCallsDependencies {
  readonly database: Pick<Database, 'auditedTransaction'> & DatabaseStores;
  readonly services: Services;
  /** The same services inside a transaction; what they announce waits for its end. */
  readonly within: (stores: DatabaseStores, afterCommit: AfterCommit) => Services;
}

/** Each handler has its own types, so the union of all cannot be called directly. */
type AnyHandler = (params: unknown, context: object) => Promise<unknown>;

interface RecordedMethod {
  readonly audit: AuditRule | NoAudit;
  readonly entry?: ChangingMethod<RpcMethodName>['entry'];
  readonly handle: AnyHandler;
}

/** Calls the handlers, and writes an audit entry for every change. The only place of the RPC plane that does. */
export function createAuditedCalls(dependencies: AuditedCallsDependencies): PerformCall {
  const { database, services, within } = dependencies;
  const methods = createMethods(services);

  async function append(
    stores: DatabaseStores,
    { name, rule, caller, call }: Recorded,
    { target, before }: Before,
  ): Promise<void> {
    if (rule.isRecorded?.(call, caller) === false) return;
    await stores.audit.append({
      actor: actorOf(name, caller, call),
      action: name,
      target: target ?? (await rule.target(call, stores)) ?? null,
      before,
      after: rule.state === undefined ? call.params : await rule.state(call, stores),
      clientIp: caller.clientIp,
      requestId: caller.requestId,
    });
  }

  async function stateBefore(stores: DatabaseStores, { rule, call }: Recorded): Promise<Before> {
    const target = await rule.target(call, stores);
    return { target, before: await rule.state?.(call, stores) };
  }

  /** Runs the change and its entry in one transaction. `about` says what the outcome tells of the call. */
  async function inTransaction<Outcome>(
    recorded: Recorded,
    work: (inside: Services) => Promise<Outcome>,
    about: (outcome: Outcome) => Partial<AuditedCall>,
  ): Promise<Outcome> {
    let pending: (() => Promise<unknown>)[] = [];
    const outcome = await database.auditedTransaction(turnOf(recorded), async (stores) => {
      // The work runs again after a conflict.
      pending = [];
      await assertStillAllowed(stores, recorded.caller);
      const before = await stateBefore(stores, recorded);
      const inside = within(stores, async (announce) => void pending.push(announce));
      const done = await work(inside);
      const call = { ...recorded.call, ...about(done) };
      await append(stores, { ...recorded, call }, before);
      return done;
    });
    for (const announce of pending) await announce();
    return outcome;
  }

  return async (name, params, context, caller) => {
    const method = methods[name] as AnyHandler | RecordedMethod;
    if (typeof method === 'function') return method(params, context);
    const { audit: rule, entry = 'transaction', handle } = method;
    if ('none' in rule) return handle(params, context);
    const userId = caller.user?.id;
    // The rule has the types of the method, which are not known here.
    const call = { params, userId, result: undefined, changed: undefined } as AuditedCall;
    const recorded: Recorded = { name, rule, caller, call };
    const asResult = (result: unknown) => ({ result }) as Partial<AuditedCall>;
    switch (entry) {
      case 'transaction':
        return inTransaction(
          recorded,
          (inside) =>
            (createMethodsLike(name, inside)[name] as RecordedMethod).handle(params, context),
          asResult,
        );
      case 'handler': {
        const change = <Changed>(work: (scope: ChangeScope) => Promise<Changed>) =>
          inTransaction(recorded, work, (changed) => ({ changed }));
        return handle(params, { ...context, change });
      }
      case 'after': {
        const before = await stateBefore(database, recorded);
        const result = await handle(params, context);
        await append(database, { ...recorded, call: { ...call, ...asResult(result) } }, before);
        return result;
      }
    }
  };
}

interface Recorded {
  readonly name: RpcMethodName;
  readonly rule: AuditRule;
  readonly caller: CallerFacts;
  readonly call: AuditedCall;
}

interface Before {
  readonly target: string | undefined;
  readonly before: unknown;
}

/** Whose turn a change takes. */
const turnOf = ({ caller: { user, hasAdminToken, clientIp } }: Recorded): string =>
  user?.id ?? (hasAdminToken ? 'admin-token' : `address:${clientIp}`);

/** The sign-in or the role may have ended since the call was authorized, such as while it waited. */
async function assertStillAllowed(
  { users }: DatabaseStores,
  { user, signIn }: CallerFacts,
): Promise<void> {
  if (signIn === undefined) return;
  const current = await users.holdSignIn(signIn);
  if (current === undefined)
    throw new ServiceError('authentication_required', 'the sign-in has ended: sign in again');
  if (user?.isAdmin === true && !current.isAdmin)
    throw new ServiceError('admin_required', 'you are no longer an admin');
}

const newAccount = z.object({ id: z.string() });

function actorOf(
  name: RpcMethodName,
  { user, hasAdminToken }: CallerFacts,
  { changed }: AuditedCall,
): AuditActor {
  if (user !== undefined) return { kind: 'user', userId: user.id };
  if (hasAdminToken) return { kind: 'admin-token', userId: null };
  // Callers without a credential set a password with a link, or create their own account.
  if (name === 'auth.password.reset') return { kind: 'reset-link', userId: null };
  return { kind: 'user', userId: newAccount.parse(changed).id };
}
