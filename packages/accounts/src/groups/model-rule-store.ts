/** The model rules of a group, sorted. */
export interface ModelRules {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** Stores model rules: a model is allowed, denied or not mentioned. */
export interface ModelRuleStore {
  list(groupId: string): Promise<ModelRules>;
  /**
   * Replaces the opposite rule of the same model. False when the group was deleted. Rejects when the group would have more than
   * `countMax`.
   */
  set(
    groupId: string,
    rule: 'allow' | 'deny',
    models: readonly string[],
    countMax?: number,
  ): Promise<boolean>;
}
