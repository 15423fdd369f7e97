import { sha256Hex } from '@model-gateway/kernel';
import type { GroupStore } from '../groups/group-store.ts';
import type { ModelPolicy } from '../groups/is-model-allowed.ts';
import type { ModelRuleStore } from '../groups/model-rule-store.ts';
import type { KeyGrant } from './key-cache.ts';
import type { FoundKey, KeyStore } from './key-store.ts';
import { isKeyForm } from './keys.ts';

/** Looks up the grant of a secret; undefined for an unknown one. */
export interface KeyGrants extends KeyPolicies {
  lookUp(secret: string): Promise<KeyGrant | undefined>;
}

/** The model rules of keys. */
export interface KeyPolicies {
  /** The rules of a key and its group; null without any. */
  policyOf(key: PolicyHolder): Promise<ModelPolicy | null>;
}

interface PolicyHolder {
  readonly groupId: string | null;
  readonly settings: Pick<FoundKey['settings'], 'models'>;
}

interface KeyGrantsDependencies {
  readonly keys: Pick<KeyStore, 'findHolder'>;
  readonly groups: Pick<GroupStore, 'find'>;
  readonly modelRules: Pick<ModelRuleStore, 'list'>;
}

const NO_GROUP_RULES: ModelPolicy = {
  enforceAllowlist: false,
  allowed: new Set(),
  denied: new Set(),
};

export function createKeyGrants({ keys, groups, modelRules }: KeyGrantsDependencies): KeyGrants {
  async function groupPolicy(groupId: string): Promise<ModelPolicy | null> {
    const [group, rules] = await Promise.all([
      groups.find(groupId, null),
      modelRules.list(groupId),
    ]);
    if (group === undefined) return null;
    return {
      enforceAllowlist: group.enforceModelAllowlist,
      allowed: new Set(rules.allowed),
      denied: new Set(rules.denied),
    };
  }

  async function policyOf({ groupId, settings }: PolicyHolder): Promise<ModelPolicy | null> {
    const ofGroup = groupId === null ? null : await groupPolicy(groupId);
    const { models } = settings;
    return models.length === 0 ? ofGroup : { ...(ofGroup ?? NO_GROUP_RULES), keyModels: models };
  }

  return {
    policyOf,
    async lookUp(secret) {
      if (!isKeyForm(secret)) return undefined;
      const found = await keys.findHolder(sha256Hex(secret));
      if (found === undefined) return undefined;
      const { holder, owner, limits, settings, replacedUntil } = found;
      const modelPolicy = await policyOf({ groupId: holder.groupId, settings });
      // No spread: V8 would make a new hidden class for every lookup, and compile again what every request runs.
      return { holder, owner, limits, settings, replacedUntil, modelPolicy };
    },
  };
}
