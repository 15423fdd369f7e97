import type { RpcMethodName } from '@model-gateway/contracts';
import type { Handlers, HandlersOf } from '../protocol/handlers.ts';
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

type Namespace = RpcMethodName extends `${infer First}.${string}` ? First : never;

const NAMESPACES: { readonly [Name in Namespace]: (services: Services) => HandlersOf<Name> } = {
  auth: createAuthMethods,
  users: createUsersMethods,
  audit: createAuditMethods,
  keys: createKeysMethods,
  group: createGroupMethods,
  ledger: createLedgerMethods,
  providers: createProvidersMethods,
  backends: createBackendsMethods,
  aliases: createAliasesMethods,
  routes: createRoutesMethods,
  config: createConfigMethods,
  conversations: createConversationsMethods,
  chat: createChatMethods,
  memory: createMemoryMethods,
  realtime: createRealtimeMethods,
  engine: createEngineMethods,
  usage: createUsageMethods,
  requests: createRequestsMethods,
  billing: (services) => ({
    ...createBillingMethods(services),
    ...createBillingPricingMethods(services),
  }),
  agents: createAgentsMethods,
  system: createSystemMethods,
  video: createVideoMethods,
  webhooks: createWebhooksMethods,
};

/** Every RPC method, from one file per namespace. */
export function createMethods(services: Services): Handlers {
  const methods: Partial<Handlers> = {};
  for (const create of Object.values(NAMESPACES)) Object.assign(methods, create(services));
  return methods as Handlers;
}

/** The methods of one namespace. Making all would take more memory than most calls do. */
export const createMethodsLike = (name: RpcMethodName, services: Services): Partial<Handlers> =>
  NAMESPACES[name.slice(0, name.indexOf('.')) as Namespace](services);
