import { matchesPattern } from '../keys/matches-pattern.ts';

/** The model rules of a group and of a key. */
export interface ModelPolicy {
  /** Whether only models on the allow list of the group may be used. */
  readonly enforceAllowlist: boolean;
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
  /** The models that the key may use, where its owner has set a list. */
  readonly keyModels?: readonly string[];
}

/** The names of one model in a request. */
export interface RequestedModel {
  readonly requested: string;
  /** The target of the requested name, if it is an alias. */
  readonly aliasTarget?: string | undefined;
  /** The model that would serve the request, where a route may lead to another one. */
  readonly served?: string | undefined;
}

const LATEST = ':latest';

/** Whether the rules let a model through. */
export const isModelAllowed = (policy: ModelPolicy, model: RequestedModel): boolean =>
  modelRefusal(policy, model) === undefined;

/**
 * Whose rules refuse a model, if any: a denial of any of its names refuses, and allowing any of them is enough. A key can only
 * narrow the rules of its group.
 */
export function modelRefusal(
  policy: ModelPolicy,
  model: RequestedModel,
): 'group' | 'key' | undefined {
  const names = namesOf(model);
  if (names.some((name) => policy.denied.has(name))) return 'group';
  if (policy.enforceAllowlist && !names.some((name) => policy.allowed.has(name))) return 'group';
  const { keyModels } = policy;
  if (keyModels === undefined) return undefined;
  const isListed = keyModels.some((pattern) => names.some((name) => matchesPattern(pattern, name)));
  return isListed ? undefined : 'key';
}

function namesOf({ requested, aliasTarget = requested, served = requested }: RequestedModel) {
  return [...new Set([requested, aliasTarget, served])].flatMap(formsOf);
}

/** A bare name and its `:latest` form are the same model; any other tag stands for itself. */
function formsOf(name: string): readonly string[] {
  if (name.endsWith(LATEST)) return [name, name.slice(0, -LATEST.length)];
  return name.includes(':') ? [name] : [name, `${name}${LATEST}`];
}
