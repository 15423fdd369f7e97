import { ServiceError, type RpcMethodName } from '@model-gateway/contracts';
import type { Handlers } from '../protocol/handlers.ts';

/** The methods whose engine has not landed. This list can only shrink. */
export const NOT_AVAILABLE_YET = [
  'agents.list',
  'agents.register',
  'agents.deregister',
  'agents.status',
  'agents.deploy',
  'agents.stop',
  'video.create',
  'video.get',
  'video.list',
  'video.cancel',
] as const satisfies readonly RpcMethodName[];

type NotAvailableYet = (typeof NOT_AVAILABLE_YET)[number];

async function notAvailableYet(): Promise<never> {
  throw new ServiceError('not_available_yet', 'not available yet');
}

/** Answers those methods, after authentication and validation like any other, with a plain refusal. */
export function createNotAvailableYetMethods(): Pick<Handlers, NotAvailableYet> {
  // Every name of the list is there, which is all that the type asks for.
  return Object.fromEntries(NOT_AVAILABLE_YET.map((name) => [name, notAvailableYet])) as Record<
    NotAvailableYet,
    typeof notAvailableYet
  >;
}
