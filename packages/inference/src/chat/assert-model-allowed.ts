import { modelRefusal } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Caller } from './caller.ts';

/** Refuses a model that the rules of the caller's group or key refuse, by the requested name or the target of its alias. */
export function assertModelAllowed(
  { modelPolicy }: Pick<Caller, 'modelPolicy'>,
  requested: string,
  aliasTarget: string,
): void {
  if (modelPolicy === null) return;
  const refusing = modelRefusal(modelPolicy, { requested, aliasTarget });
  if (refusing === undefined) return;
  const whose = refusing === 'group' ? 'your group' : 'this key';
  throw new ServiceError('model_not_allowed', `${whose} does not allow the model: ${requested}`);
}
