import type { AccountEvents } from '../changes/account-events.ts';
import { groupNotFound } from './group-access.ts';
import type { ModelRules, ModelRuleStore } from './model-rule-store.ts';

/** Which models a group may and may not use. */
export interface GroupModels {
  list(groupId: string): Promise<ModelRules>;
  /** Lifts a denial of the same models. */
  allow(groupId: string, models: readonly string[]): Promise<ModelRules>;
  /** Takes the same models off the allow list. */
  deny(groupId: string, models: readonly string[]): Promise<ModelRules>;
}

interface GroupModelsDependencies {
  readonly modelRules: ModelRuleStore;
  readonly events: AccountEvents;
}

/** The answers of all methods about them have all of them. */
const RULES_PER_GROUP_MAX = 10_000;

export function createGroupModels(dependencies: GroupModelsDependencies): GroupModels {
  const { modelRules, events } = dependencies;

  const setter =
    (rule: 'allow' | 'deny') =>
    async (groupId: string, models: readonly string[]): Promise<ModelRules> => {
      if (!(await modelRules.set(groupId, rule, models, RULES_PER_GROUP_MAX)))
        throw groupNotFound();
      await events.changed({ kind: 'group', groupId });
      return modelRules.list(groupId);
    };

  return {
    list: (groupId) => modelRules.list(groupId),
    allow: setter('allow'),
    deny: setter('deny'),
  };
}
