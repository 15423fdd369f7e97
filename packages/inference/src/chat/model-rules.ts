import { isModelAllowed, modelRefusal, type ModelPolicy } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { AllowsModel } from '@model-gateway/router';
import type { Caller } from './caller.ts';

/** Which models the router may choose for a caller; undefined without rules. Every choice for a caller takes it. */
export function allowedBy({ modelPolicy }: Pick<Caller, 'modelPolicy'>): AllowsModel | undefined {
  return modelPolicy === null ? undefined : (name) => isModelAllowed(modelPolicy, name);
}

interface ServingRouter {
  targetsOf(requested: string, aliasTarget: string): readonly { readonly model: string }[];
}

/**
 * Whether the rules let some model serve a request: the rules hold for the targets of routes and aliases as for the requested
 * name. Of a model without a backend the names decide.
 */
export function isServable(
  policy: ModelPolicy,
  router: ServingRouter,
  { requested, aliasTarget }: { readonly requested: string; readonly aliasTarget: string },
): boolean {
  const targets = router.targetsOf(requested, aliasTarget);
  if (targets.length === 0) return isModelAllowed(policy, { requested, aliasTarget });
  return targets.some(({ model: served }) =>
    isModelAllowed(policy, { requested, aliasTarget, served }),
  );
}

/** The refusal of a model that the rules of the caller's group or key let nothing serve. */
export function modelNotAllowed(
  policy: ModelPolicy,
  requested: string,
  aliasTarget: string,
): ServiceError {
  // The group, where the rules refuse a target of a route and not the name.
  const refusing = modelRefusal(policy, { requested, aliasTarget }) ?? 'group';
  const whose = refusing === 'group' ? 'your group' : 'this key';
  return new ServiceError('model_not_allowed', `${whose} does not allow the model: ${requested}`);
}
