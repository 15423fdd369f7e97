import { ServiceError, type RpcMethodName } from '@model-gateway/contracts';
import type { Handlers } from '../protocol/handlers.ts';

/** The methods whose engine has not landed. This list can only shrink. */
export const NOT_AVAILABLE_YET = [
  'chat.send',
  'realtime.start',
  'realtime.event',
  'realtime.stop',
  'engine.invoke',
  'auth.login',
  'auth.refresh',
  'auth.me',
  'keys.list',
  'keys.revoke',
  'group.create',
  'group.list',
  'group.get',
  'group.update',
  'group.delete',
  'group.members.list',
  'group.members.add',
  'group.members.update',
  'group.members.remove',
  'group.invite.create',
  'group.invite.accept',
  'group.models.list',
  'group.models.allow',
  'group.models.deny',
  'group.credits.topup',
  'group.credits.balance',
  'group.credits.allocate',
  'ledger.self',
  'providers.list',
  'providers.add',
  'providers.update',
  'providers.remove',
  'providers.test',
  'agents.list',
  'agents.register',
  'agents.deregister',
  'agents.status',
  'agents.deploy',
  'agents.stop',
  'memory.status',
  'memory.delete',
  'conversations.list',
  'conversations.create',
  'conversations.get',
  'conversations.delete',
  'billing.plan',
  'billing.plan.set',
  'billing.video.pricing.get',
  'billing.video.pricing.set',
  'video.create',
  'video.get',
  'video.list',
  'video.cancel',
  'system.status',
] as const satisfies readonly RpcMethodName[];

type NotAvailableYet = (typeof NOT_AVAILABLE_YET)[number];

/** Answers those methods, after authentication and validation like any other, with a plain refusal. */
export function createNotAvailableYetMethods(): Pick<Handlers, NotAvailableYet> {
  const refuse = async (): Promise<never> => {
    throw new ServiceError('not_available_yet', 'not available yet');
  };
  // Every name of the list is there, which is all that the type asks for.
  return Object.fromEntries(NOT_AVAILABLE_YET.map((name) => [name, refuse])) as Record<
    NotAvailableYet,
    typeof refuse
  >;
}
