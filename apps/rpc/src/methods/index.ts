import type { Handlers } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';
import { createAgentsMethods } from './agents.ts';
import { createAliasesMethods } from './aliases.ts';
import { createAuditMethods } from './audit.ts';
import { createAuthMethods } from './auth.ts';
import { createBackendsMethods } from './backends.ts';
import { createBillingPricingMethods } from './billing-pricing.ts';
import { createBillingMethods } from './billing.ts';
import { createChatMethods } from './chat.ts';
import { createConfigMethods } from './config.ts';
import { createConversationsMethods } from './conversations.ts';
import { createEngineMethods } from './engine.ts';
import { createGroupMethods } from './groups/groups.ts';
import { createKeysMethods } from './keys.ts';
import { createLedgerMethods } from './ledger.ts';
import { createMemoryMethods } from './memory.ts';
import { createProvidersMethods } from './providers.ts';
import { createRealtimeMethods } from './realtime.ts';
import { createRequestsMethods } from './requests.ts';
import { createRoutesMethods } from './routes.ts';
import { createSystemMethods } from './system.ts';
import { createUsageMethods } from './usage.ts';
import { createUsersMethods } from './users.ts';
import { createVideoMethods } from './video.ts';
import { createWebhooksMethods } from './webhooks.ts';

/** Every RPC method, from one file per namespace. */
export function createMethods(services: Services): Handlers {
  return {
    ...createAuthMethods(services),
    ...createUsersMethods(services),
    ...createAuditMethods(services),
    ...createKeysMethods(services),
    ...createGroupMethods(services),
    ...createLedgerMethods(services),
    ...createProvidersMethods(services),
    ...createBackendsMethods(services),
    ...createAliasesMethods(services),
    ...createRoutesMethods(services),
    ...createConfigMethods(services),
    ...createConversationsMethods(services),
    ...createChatMethods(services),
    ...createMemoryMethods(services),
    ...createRealtimeMethods(services),
    ...createEngineMethods(services),
    ...createUsageMethods(services),
    ...createRequestsMethods(services),
    ...createBillingMethods(services),
    ...createBillingPricingMethods(services),
    ...createAgentsMethods(services),
    ...createSystemMethods(services),
    ...createVideoMethods(services),
    ...createWebhooksMethods(services),
  };
}
