import type { Accounts, Conversations, GroupRules, Keys, Providers } from '@model-gateway/accounts';
import type { UsageStore } from '@model-gateway/billing';
import type { SystemMonitor } from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { Handlers } from '../protocol/handlers.ts';
import { createAuthMethods } from './auth.ts';
import { createConversationsMethods } from './conversations.ts';
import { createGroupMethods } from './groups.ts';
import { createKeysMethods } from './keys.ts';
import { createNotAvailableYetMethods } from './not-available-yet.ts';
import { createProvidersMethods } from './providers.ts';
import { createSystemMethods } from './system.ts';
import { createUsageMethods } from './usage.ts';

/** The rules behind the methods. */
export interface MethodDependencies {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly groupRules: GroupRules;
  readonly providers: Providers;
  readonly conversations: Conversations;
  readonly usage: UsageStore;
  readonly system: SystemMonitor;
  readonly clock: Clock;
}

/** Every method of the plane, from one file per namespace. */
export function createMethods(rules: MethodDependencies): Handlers {
  return {
    ...createNotAvailableYetMethods(),
    ...createAuthMethods(rules.accounts),
    ...createKeysMethods(rules.keys),
    ...createGroupMethods(rules.groupRules),
    ...createProvidersMethods(rules.providers),
    ...createConversationsMethods(rules.conversations, rules.clock),
    ...createUsageMethods(rules.usage),
    ...createSystemMethods(rules.system),
  };
}
