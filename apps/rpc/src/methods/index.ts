import type {
  Accounts,
  Conversations,
  GroupRules,
  Keys,
  Providers,
  UserStore,
} from '@model-gateway/accounts';
import type { AccountHints, LedgerStore, UsageStore } from '@model-gateway/billing';
import type { Memory, SystemMonitor } from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { InferenceRuntime } from '@model-gateway/inference-runtime';
import type { Handlers } from '../protocol/handlers.ts';
import type { RealtimeSessions } from '../realtime/realtime-sessions.ts';
import { createAgentsMethods, type AgentsMethodsDependencies } from './agents.ts';
import { createAuthMethods } from './auth.ts';
import { createBillingPricingMethods, type PricingDependencies } from './billing-pricing.ts';
import { createBillingMethods, type BillingDependencies } from './billing.ts';
import { createChatMethods, type ChatMethodsDependencies } from './chat.ts';
import { createConversationsMethods } from './conversations.ts';
import { createEngineMethods } from './engine.ts';
import { createGroupMethods } from './groups.ts';
import { createKeysMethods } from './keys.ts';
import { createLedgerMethods } from './ledger.ts';
import { createMemoryMethods } from './memory.ts';
import { createProvidersMethods } from './providers.ts';
import { createRealtimeMethods } from './realtime.ts';
import { createSystemMethods } from './system.ts';
import { createUsageMethods } from './usage.ts';
import { createVideoMethods } from './video.ts';

/** The dependencies of all methods. */
export interface MethodDependencies {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly groupRules: GroupRules;
  readonly providers: Providers;
  readonly conversations: Conversations;
  readonly usage: UsageStore;
  readonly ledger: LedgerStore;
  readonly hints: AccountHints;
  readonly billing: BillingDependencies & PricingDependencies;
  readonly users: Pick<UserStore, 'findById' | 'findOldestAdmin'>;
  readonly chat: ChatMethodsDependencies;
  readonly memory: Memory;
  readonly realtime: RealtimeSessions;
  readonly runtime: Pick<InferenceRuntime, 'router' | 'telemetry' | 'quotas' | 'videoJobs'>;
  readonly agents: AgentsMethodsDependencies;
  readonly system: SystemMonitor;
  readonly clock: Clock;
}

/** Every RPC method, from one file per namespace. */
export function createMethods(dependencies: MethodDependencies): Handlers {
  return {
    ...createAuthMethods(dependencies.accounts),
    ...createKeysMethods(dependencies.keys),
    ...createGroupMethods({ ...dependencies, rules: dependencies.groupRules }),
    ...createLedgerMethods(dependencies),
    ...createProvidersMethods(dependencies.providers),
    ...createConversationsMethods(dependencies.conversations, dependencies.clock),
    ...createChatMethods(dependencies.chat),
    ...createMemoryMethods(dependencies.memory),
    ...createRealtimeMethods(dependencies.realtime),
    ...createEngineMethods(dependencies.runtime),
    ...createUsageMethods(dependencies.usage),
    ...createBillingMethods(dependencies.billing),
    ...createBillingPricingMethods(dependencies.billing),
    ...createAgentsMethods(dependencies.agents),
    ...createSystemMethods(dependencies.system),
    ...createVideoMethods(dependencies.runtime),
  };
}
