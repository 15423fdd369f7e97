import { accountErased, type AccountView } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import { accountState } from '../audit/account-state.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

const RESET_PAGE = '/console/reset';

/** The accounts of all users, for admins. */
export function createUsersMethods({
  userDirectory,
  passwordChanges,
  users,
  runtime: { memory },
  publicUrl,
  mails,
}: Services): HandlersOf<'users'> {
  return {
    'users.list': async ({ search, active, is_admin, after, limit }) => {
      const { accounts, hasMore } = await userDirectory.list({
        search,
        isActive: active,
        isAdmin: is_admin,
        after: after ?? undefined,
        countMax: limit,
      });
      const last = hasMore ? accounts.at(-1) : undefined;
      return {
        users: accounts.map(accountRecord),
        has_more: hasMore,
        after: last?.id ?? null,
      };
    },
    'users.get': async ({ user_id }) => accountRecord(await userDirectory.get(user_id)),
    'users.update': {
      audit: {
        target: ({ params }) => `user:${params.user_id}`,
        async state({ params, result }, stores) {
          const state = await accountState(params.user_id, stores);
          // The name itself would stay after the person was removed.
          return result === undefined || params.name === undefined
            ? state
            : { ...state, changed: ['name'] };
        },
      },
      handle: async ({ user_id, tier, is_admin, active, name, provider_claim }, { user }) =>
        accountRecord(
          await userDirectory.update(user_id, {
            tier,
            isAdmin: is_admin,
            isActive: active,
            name,
            providerClaim:
              provider_claim === undefined
                ? undefined
                : { isAllowed: provider_claim, byId: user?.id },
          }),
        ),
    },
    'users.reset_link': {
      audit: {
        target: ({ params }) => `user:${params.user_id}`,
        state: ({ result }) => result && { expires_at: result.expires_at },
      },
      handle: async ({ user_id }, { user }) => {
        const { id, email, erasedAt } = await userDirectory.get(user_id);
        if (erasedAt !== null) throw accountErased();
        const { token, expiresAt } = await passwordChanges.createReset(id, user);
        // After the number sign, because browsers do not send that part to any server.
        const link = `${(publicUrl ?? '').replace(/\/+$/, '')}${RESET_PAGE}#${token}`;
        return {
          link,
          token,
          mailed: await mails.resetLink({ email, link, expiresAt }),
          expires_at: expiresAt.toISOString(),
        };
      },
    },
    'users.erase': {
      audit: {
        target: ({ params }) => `user:${params.user_id}`,
        state: ({ params }, stores) => accountState(params.user_id, stores),
      },
      entry: 'handler',
      handle: async ({ user_id }, { user, change }) => {
        const successor = user ?? (await users.findOldestAdmin());
        // The events name memories, and are erased with the rest.
        const { events } = await memory.status(user_id);
        await change((scope) => scope.userDirectory.erase(user_id, successor?.id));
        const nodeIds = new Set(events.flatMap((event) => event.nodeIds));
        const forgotten = await memory.forget(user_id, [...nodeIds]);
        await userDirectory.eraseContent(user_id);
        return { ok: true, memory: forgotten };
      },
    },
  };
}

function accountRecord(account: AccountView): RpcResult<'users.get'> {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    is_admin: account.isAdmin,
    active: account.isActive,
    provider_bound: account.isProviderBound,
    provider_claim: account.isClaimable,
    tier: account.tier,
    created_at: account.createdAt.toISOString(),
    last_sign_in_at: account.lastSignInAt?.toISOString() ?? null,
    active_keys: account.activeKeys,
    erased_at: account.erasedAt?.toISOString() ?? null,
  };
}
