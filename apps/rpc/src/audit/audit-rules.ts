import type { RpcMethodName } from '@model-gateway/contracts';
import { z } from 'zod';
import { rule, type AuditExemption, type AuditRule } from './audit-rule.ts';
import {
  accountState,
  agentState,
  aliasState,
  balanceState,
  groupState,
  keyState,
  memberState,
  memberTarget,
  catalogueState,
  deployedState,
  modelOnNodeState,
  priceState,
  providerState,
  routeState,
  storedBackendState,
  tierState,
  webhookState,
} from './audit-states.ts';

const READS: AuditExemption = { exempt: 'it changes nothing' };
const OWN: AuditExemption = { exempt: 'users change only what is their own' };
const SIGN_IN: AuditExemption = { exempt: 'people sign themselves up, in and out' };
const TEST: AuditExemption = { exempt: 'it sends a test, and changes no setting' };
const WORK: AuditExemption = { exempt: 'it is metered work of the caller, and changes no setting' };

const group = ({ params }: { readonly params: { readonly group_id: string } }): string =>
  `group:${params.group_id}`;

/** The registry has its own transaction, because it works while the database is unavailable. */
const backendRule = <Name extends 'backends.add' | 'backends.update' | 'backends.remove'>() =>
  rule<Name>(
    ({ params }) => `backend:${params.name}`,
    (stores, { params }) => storedBackendState(stores, params.name),
    'after',
  );

const aliasRule = <Name extends 'aliases.set' | 'aliases.remove'>() =>
  rule<Name>(
    ({ params }) => `alias:${params.alias}`,
    async (_stores, { params }, aliases) => aliasState(aliases, params.alias),
    'after',
  );

const created = z.object({ id: z.string() });
const createdAdmin = z.object({ isAdmin: z.literal(true) });
const createdWithSecret = z.object({ webhook: created });

/** What the handler reported is known after the change. */
function createdAccount<Found>(changed: unknown, find: (userId: string) => Found) {
  const account = created.safeParse(changed);
  return account.success ? find(account.data.id) : undefined;
}

function changedWebhook<Found>(changed: unknown, find: (webhookId: string) => Found) {
  const webhook = createdWithSecret.safeParse(changed);
  return webhook.success ? find(webhook.data.webhook.id) : undefined;
}

/** How each method is recorded, or why it is not. A new method does not compile until it is here. */
export const AUDIT_RULES: {
  readonly [Name in RpcMethodName]: AuditRule<Name> | AuditExemption;
} = {
  'chat.send': WORK,
  'chat.stop': WORK,
  'realtime.start': WORK,
  'realtime.event': WORK,
  'realtime.stop': WORK,
  'engine.invoke': WORK,
  'video.create': WORK,
  'video.cancel': WORK,
  'video.get': READS,
  'video.list': READS,
  'auth.register': {
    entry: 'handler',
    // People who sign themselves up are not in the audit log; the first admin and what the admin token does are.
    isRecorded: ({ changed }, { hasAdminToken }) =>
      hasAdminToken || createdAdmin.safeParse(changed).success,
    target: async (_stores, { changed }) => createdAccount(changed, (id) => `user:${id}`),
    state: async (stores, { changed }) => createdAccount(changed, (id) => accountState(stores, id)),
  },
  'auth.login': SIGN_IN,
  'auth.refresh': SIGN_IN,
  'auth.logout': SIGN_IN,
  'auth.me': READS,
  'auth.password.change': {
    entry: 'handler',
    target: async (_stores, { userId }) => userId && `user:${userId}`,
    state: async () => undefined,
  },
  'auth.password.reset': {
    entry: 'handler',
    target: async (_stores, { changed }) => {
      const set = z.object({ userId: z.string() }).safeParse(changed);
      return set.success ? `user:${set.data.userId}` : undefined;
    },
    state: async () => undefined,
  },
  'users.list': READS,
  'users.get': READS,
  'users.update': rule<'users.update'>(
    ({ params }) => `user:${params.user_id}`,
    async (stores, { params, result }) => {
      const state = await accountState(stores, params.user_id);
      // The name itself would stay after the person was removed.
      return result === undefined || params.name === undefined
        ? state
        : { ...state, changed: ['name'] };
    },
  ),
  'users.reset_link': rule<'users.reset_link'>(
    ({ params }) => `user:${params.user_id}`,
    async (_stores, { result }) => result && { expires_at: result.expires_at },
  ),
  'users.erase': rule<'users.erase'>(
    ({ params }) => `user:${params.user_id}`,
    (stores, { params }) => accountState(stores, params.user_id),
    'handler',
  ),
  'audit.list': READS,
  'audit.verify': READS,
  'keys.list': READS,
  'keys.create': rule<'keys.create'>(
    ({ result }) => result && `key:${result.id}`,
    async (stores, { userId, result }) => result && keyState(stores, userId, result.id),
  ),
  'keys.update': rule<'keys.update'>(
    ({ params }) => `key:${params.key_id}`,
    async (stores, { userId, params, result }) => {
      const state = await keyState(stores, userId, params.key_id);
      const changed = (['name', 'metadata'] as const).filter(
        (field) => params[field] !== undefined,
      );
      return result === undefined || changed.length === 0 ? state : { ...state, changed };
    },
  ),
  'keys.rotate': rule<'keys.rotate'>(
    ({ params }) => `key:${params.key_id}`,
    (stores, { userId, params }) => keyState(stores, userId, params.key_id),
  ),
  'keys.revoke': rule<'keys.revoke'>(
    ({ params }) => `key:${params.key_id}`,
    (stores, { userId, params }) => keyState(stores, userId, params.key_id),
  ),
  'group.list': READS,
  'group.get': READS,
  'group.create': rule<'group.create'>(
    ({ result }) => result && `group:${result.id}`,
    async (stores, { result }) => result && groupState(stores, result.id),
  ),
  'group.update': rule<'group.update'>(group, (stores, { params }) =>
    groupState(stores, params.group_id),
  ),
  'group.delete': rule<'group.delete'>(group, (stores, { params }) =>
    groupState(stores, params.group_id),
  ),
  'group.members.list': READS,
  'group.members.add': {
    entry: 'transaction',
    target: (stores, { params }) => memberTarget(stores, params.group_id, params.email),
    state: (stores, { params }) => memberState(stores, params.group_id, params.email),
  },
  'group.members.update': {
    entry: 'transaction',
    target: (stores, { params }) => memberTarget(stores, params.group_id, params.user_id),
    state: (stores, { params }) => memberState(stores, params.group_id, params.user_id),
  },
  'group.members.remove': {
    entry: 'transaction',
    target: (stores, { params }) => memberTarget(stores, params.group_id, params.user_id),
    state: (stores, { params }) => memberState(stores, params.group_id, params.user_id),
  },
  'group.invite.create': rule<'group.invite.create'>(group, async (_stores, { result }) =>
    result === undefined
      ? undefined
      : {
          invitation_id: result.id,
          role: result.role,
          max_uses: result.max_uses,
          expires_at: result.expires_at,
          for_one_email: result.email !== null,
        },
  ),
  'group.invite.accept': rule<'group.invite.accept'>(
    ({ userId, result }) => result && `group:${result.id}/user:${userId}`,
    async (_stores, { result }) => result && { role: result.my_role },
  ),
  'group.models.list': READS,
  'group.models.allow': rule<'group.models.allow'>(group, (stores, { params }) =>
    stores.modelRules.list(params.group_id),
  ),
  'group.models.deny': rule<'group.models.deny'>(group, (stores, { params }) =>
    stores.modelRules.list(params.group_id),
  ),
  'group.credits.topup': rule<'group.credits.topup'>(group, (stores, { params }) =>
    balanceState(stores, params.group_id),
  ),
  'group.credits.balance': READS,
  'group.credits.allocate': {
    entry: 'transaction',
    target: (stores, { params }) => memberTarget(stores, params.group_id, params.user_id),
    state: (stores, { params }) => balanceState(stores, params.group_id),
  },
  'ledger.self': READS,
  'providers.list': READS,
  'providers.test': READS,
  'providers.add': rule<'providers.add'>(
    ({ params }) => `provider:${params.id}`,
    (stores, { params }) => providerState(stores, params.id),
  ),
  'providers.update': rule<'providers.update'>(
    ({ params }) => `provider:${params.provider_id}`,
    (stores, { params }) => providerState(stores, params.provider_id),
  ),
  'providers.remove': rule<'providers.remove'>(
    ({ params }) => `provider:${params.provider_id}`,
    (stores, { params }) => providerState(stores, params.provider_id),
  ),
  'backends.list': READS,
  'backends.get': READS,
  'backends.test': { exempt: 'it sends a test request and changes nothing' },
  'backends.add': backendRule<'backends.add'>(),
  'backends.update': backendRule<'backends.update'>(),
  'backends.remove': backendRule<'backends.remove'>(),
  'aliases.list': READS,
  'aliases.set': aliasRule<'aliases.set'>(),
  'aliases.remove': aliasRule<'aliases.remove'>(),
  'config.check': READS,
  'routes.list': READS,
  'routes.explain': READS,
  'routes.set': rule<'routes.set'>(
    ({ params }) => `route:${params.model}`,
    (stores, { params }) => routeState(stores, params.model),
  ),
  'routes.remove': rule<'routes.remove'>(
    ({ params }) => `route:${params.model}`,
    (stores, { params }) => routeState(stores, params.model),
  ),
  'agents.list': READS,
  'agents.status': READS,
  'agents.register': rule<'agents.register'>(
    ({ result }) => result && `agent:${result.agent_id}`,
    (stores, { result }) => agentState(stores, result?.agent_id),
    'after',
  ),
  'agents.deregister': rule<'agents.deregister'>(
    ({ params }) => `agent:${params.agent_id}`,
    (stores, { params }) => agentState(stores, params.agent_id),
    'after',
  ),
  'agents.deploy': rule<'agents.deploy'>(
    ({ params }) => `model:${params.model_id}`,
    async (stores, { params, result }) => ({
      ...(await deployedState(stores, params.model_id)),
      ...(result && { declared_capabilities: params.capabilities }),
    }),
    'after',
  ),
  'agents.stop': rule<'agents.stop'>(
    ({ params }) => `agent:${params.agent_id}`,
    (stores, { params }) => modelOnNodeState(stores, params.agent_id, params.model_id),
    'after',
  ),
  'memory.status': READS,
  'memory.delete': OWN,
  'conversations.list': READS,
  'conversations.get': READS,
  'conversations.create': OWN,
  'conversations.delete': OWN,
  'usage.list': READS,
  'usage.summary': READS,
  'usage.halts.list': READS,
  'usage.halts.skip': rule<'usage.halts.skip'>(({ params }) => `usage:${params.event_id}`),
  'requests.list': READS,
  'requests.get': READS,
  'requests.watch': READS,
  'billing.plan': READS,
  'billing.plan.set': {
    entry: 'transaction',
    async target(stores, { params }) {
      const userId = await stores.userDirectory.findIdByEmail(params.user_email);
      return userId && `user:${userId}`;
    },
    async state(stores, { params }) {
      const userId = await stores.userDirectory.findIdByEmail(params.user_email);
      return userId && accountState(stores, userId);
    },
  },
  'billing.tiers.set': rule<'billing.tiers.set'>(
    ({ params }) => `tier:${params.name}`,
    (stores, { params }) => tierState(stores, params.name),
  ),
  'billing.pricing.get': READS,
  'billing.pricing.set': rule<'billing.pricing.set'>(
    ({ params }) =>
      `price:${params.pattern}${params.backend === undefined ? '' : `@${params.backend}`}`,
    (stores, { params }) => priceState(stores, params.pattern, params.backend),
  ),
  'billing.pricing.explain': READS,
  'billing.pricing.import': rule<'billing.pricing.import'>(
    () => 'prices:catalogue',
    (stores) => catalogueState(stores),
  ),
  'billing.video.pricing.get': READS,
  'billing.video.pricing.set': rule<'billing.video.pricing.set'>(
    ({ params }) => `video-price:${params.model}`,
    (stores, { params }) => stores.videoPricing.find(params.model),
  ),
  'webhooks.create': {
    entry: 'handler',
    target: async (_stores, { changed }) => changedWebhook(changed, (id) => `webhook:${id}`),
    state: async (stores, { changed }) => changedWebhook(changed, (id) => webhookState(stores, id)),
  },
  'webhooks.list': READS,
  'webhooks.remove': rule<'webhooks.remove'>(
    ({ params }) => `webhook:${params.webhook_id}`,
    (stores, { params }) => webhookState(stores, params.webhook_id),
  ),
  'webhooks.deliveries': READS,
  'webhooks.test': TEST,
  'system.settings': READS,
  'system.status': READS,
};
