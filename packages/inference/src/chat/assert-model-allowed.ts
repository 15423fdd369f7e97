import { isModelAllowed } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Caller } from './caller.ts';

/** Refuses a model that the rules of the caller's group refuse, by the requested name or the target of its alias. */
export function assertModelAllowed(
  { modelPolicy }: Pick<Caller, 'modelPolicy'>,
  requested: string,
  aliasTarget: string,
): void {
  if (modelPolicy === null || isModelAllowed(modelPolicy, { requested, aliasTarget })) return;
  throw new ServiceError('model_not_allowed', `your group does not allow the model: ${requested}`);
}
