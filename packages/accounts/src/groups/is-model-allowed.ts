/** The model rules of a group. */
export interface ModelPolicy {
  /** Whether only models on the allow list may be used. */
  readonly enforceAllowlist: boolean;
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

/** The names of one model in a request. */
export interface RequestedModel {
  readonly requested: string;
  /** The target of the requested name, if it is an alias. */
  readonly aliasTarget?: string | undefined;
}

const LATEST = ':latest';

/** Whether the rules of a group let a model through: a denial of any of its names refuses, allowing any of them is enough. */
export function isModelAllowed(policy: ModelPolicy, model: RequestedModel): boolean {
  const names = namesOf(model);
  if (names.some((name) => policy.denied.has(name))) return false;
  return !policy.enforceAllowlist || names.some((name) => policy.allowed.has(name));
}

function namesOf({ requested, aliasTarget }: RequestedModel): readonly string[] {
  return [requested, ...(aliasTarget === undefined ? [] : [aliasTarget])].flatMap(formsOf);
}

/** A bare name and its `:latest` form are the same model; any other tag stands for itself. */
function formsOf(name: string): readonly string[] {
  if (name.endsWith(LATEST)) return [name, name.slice(0, -LATEST.length)];
  return name.includes(':') ? [name] : [name, `${name}${LATEST}`];
}
