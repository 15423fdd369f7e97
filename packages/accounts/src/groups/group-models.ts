import type { AccountEvents } from '../changes/account-events.ts';
import type { User } from '../users/user-store.ts';
import { groupNotFound, type GroupAccess } from './group-access.ts';
import type { ModelRules, ModelRuleStore } from './model-rule-store.ts';

/** Which models a group may and may not use. */
export interface GroupModels {
  list(caller: User, groupId: string): Promise<ModelRules>;
  /** Lifts a denial of the same models. */
  allow(caller: User, groupId: string, models: readonly string[]): Promise<ModelRules>;
  /** Takes the same models off the allow list. */
  deny(caller: User, groupId: string, models: readonly string[]): Promise<ModelRules>;
}

interface GroupModelsDependencies {
  readonly access: GroupAccess;
  readonly modelRules: ModelRuleStore;
  readonly events: AccountEvents;
}

export function createGroupModels(dependencies: GroupModelsDependencies): GroupModels {
  const { access, modelRules, events } = dependencies;

  const setter =
    (rule: 'allow' | 'deny') =>
    async (caller: User, groupId: string, models: readonly string[]): Promise<ModelRules> => {
      const { id } = await access.enter(caller, groupId, `group.models.${rule}`);
      if (!(await modelRules.set(id, rule, models))) throw groupNotFound();
      await events.changed({ kind: 'group', groupId: id });
      return modelRules.list(id);
    };

  return {
    async list(caller, groupId) {
      await access.enter(caller, groupId, 'group.models.list');
      return modelRules.list(groupId);
    },
    allow: setter('allow'),
    deny: setter('deny'),
  };
}
