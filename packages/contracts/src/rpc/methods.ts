import type { z } from 'zod';
import { agentsMethods } from './namespaces/agents.ts';
import { aliasesMethods } from './namespaces/aliases.ts';
import { auditMethods } from './namespaces/audit.ts';
import { authMethods } from './namespaces/auth.ts';
import { backendsMethods } from './namespaces/backends.ts';
import { billingMethods } from './namespaces/billing.ts';
import { chatMethods } from './namespaces/chat.ts';
import { configMethods } from './namespaces/config.ts';
import { conversationsMethods } from './namespaces/conversations.ts';
import { engineMethods } from './namespaces/engine.ts';
import { groupMethods, ledgerMethods } from './namespaces/groups.ts';
import { keysMethods } from './namespaces/keys.ts';
import { memoryMethods } from './namespaces/memory.ts';
import { providersMethods } from './namespaces/providers.ts';
import { realtimeMethods } from './namespaces/realtime.ts';
import { requestsMethods } from './namespaces/requests.ts';
import { routesMethods } from './namespaces/routes.ts';
import { systemMethods } from './namespaces/system.ts';
import { usageMethods } from './namespaces/usage.ts';
import { usersMethods } from './namespaces/users.ts';
import { videoMethods } from './namespaces/video.ts';
import { webhooksMethods } from './namespaces/webhooks.ts';

/** Every method of the management plane, by name. */
export const rpcMethods = {
  ...chatMethods,
  ...realtimeMethods,
  ...engineMethods,
  ...authMethods,
  ...usersMethods,
  ...auditMethods,
  ...keysMethods,
  ...groupMethods,
  ...ledgerMethods,
  ...providersMethods,
  ...backendsMethods,
  ...aliasesMethods,
  ...routesMethods,
  ...agentsMethods,
  ...memoryMethods,
  ...conversationsMethods,
  ...usageMethods,
  ...requestsMethods,
  ...billingMethods,
  ...videoMethods,
  ...webhooksMethods,
  ...configMethods,
  ...systemMethods,
};

export type RpcMethodName = keyof typeof rpcMethods;

/** What a caller sends: the params before validation. */
export type RpcInput<Name extends RpcMethodName> = z.input<(typeof rpcMethods)[Name]['params']>;

/** What a handler receives: the params after validation. */
export type RpcParams<Name extends RpcMethodName> = z.output<(typeof rpcMethods)[Name]['params']>;

/** What a handler returns. */
export type RpcResult<Name extends RpcMethodName> = z.output<(typeof rpcMethods)[Name]['result']>;

/** The auth level that a method was declared with. */
export type RpcAuth<Name extends RpcMethodName> = (typeof rpcMethods)[Name]['auth'];
