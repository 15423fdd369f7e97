import type { z } from 'zod';
import { agentsMethods } from './agents.ts';
import { aliasesMethods } from './aliases.ts';
import { auditMethods } from './audit.ts';
import { authMethods } from './auth.ts';
import { backendsMethods } from './backends.ts';
import { billingMethods } from './billing.ts';
import { chatMethods } from './chat.ts';
import { conversationsMethods } from './conversations.ts';
import { engineMethods } from './engine.ts';
import { groupMethods, ledgerMethods } from './groups.ts';
import { keysMethods } from './keys.ts';
import { memoryMethods } from './memory.ts';
import { providersMethods } from './providers.ts';
import { realtimeMethods } from './realtime.ts';
import { requestsMethods } from './requests.ts';
import { routesMethods } from './routes.ts';
import { systemMethods } from './system.ts';
import { usageMethods } from './usage.ts';
import { usersMethods } from './users.ts';
import { videoMethods } from './video.ts';
import { webhooksMethods } from './webhooks.ts';

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
