import type { SignedIn, User } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import { z } from 'zod';
import { accountState } from '../audit/account-state.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

const SIGN_IN = { none: 'people sign themselves up, in and out' };

const newAccount = z.object({ id: z.string() });
const newAdmin = z.object({ isAdmin: z.literal(true) });
const newPassword = z.object({ userId: z.string() });

export function createAuthMethods({ accounts, passwordChanges }: Services): HandlersOf<'auth'> {
  return {
    'auth.register': {
      audit: {
        // People who sign themselves up are not in the audit log; the first admin and what the admin token does are.
        isRecorded: ({ changed }, { hasAdminToken }) =>
          hasAdminToken || newAdmin.safeParse(changed).success,
        target: ({ changed }) => {
          const id = createdId(changed);
          return id && `user:${id}`;
        },
        state: ({ changed }, stores) => {
          const id = createdId(changed);
          return id && accountState(id, stores);
        },
      },
      entry: 'handler',
      handle: async (params, { change, clientIp, isLocalClient, hasAdminToken }) => {
        const applicant = { ...params, clientIp, isLocalClient, hasAdminToken };
        return signedInRecord(
          await accounts.register(applicant, (create) =>
            change(({ newAccounts }) => create(newAccounts)),
          ),
        );
      },
    },
    'auth.login': {
      audit: SIGN_IN,
      handle: async ({ email, password }, { clientIp }) =>
        signedInRecord(await accounts.login({ email, password, clientIp })),
    },
    'auth.refresh': {
      audit: SIGN_IN,
      handle: async ({ refresh_token }) => signedInRecord(await accounts.refresh(refresh_token)),
    },
    'auth.logout': {
      audit: SIGN_IN,
      handle: async (_params, { signIn }) => {
        await accounts.logout(signIn);
        return { ok: true };
      },
    },
    'auth.password.change': {
      audit: { target: ({ userId }) => userId && `user:${userId}`, state: () => undefined },
      entry: 'handler',
      handle: async ({ current, next }, { change, ...caller }) => {
        const { user, signIn, clientIp } = caller;
        await passwordChanges.change({ user, signIn, current, next, clientIp }, (store) =>
          change(({ passwordStore }) => store(passwordStore)),
        );
        return { ok: true };
      },
    },
    'auth.password.reset': {
      audit: {
        target: ({ changed }) => {
          const { data } = newPassword.safeParse(changed);
          return data && `user:${data.userId}`;
        },
        state: () => undefined,
      },
      entry: 'handler',
      handle: async ({ token, password }, { clientIp, change }) => {
        await passwordChanges.reset({ token, password, clientIp }, (store) =>
          change(({ passwordStore }) => store(passwordStore)),
        );
        return { ok: true };
      },
    },
    'auth.me': async (_params, { user }) => userRecord(user),
  };
}

/** The handler reports the account; before that it is not known. */
function createdId(changed: unknown): string | undefined {
  return newAccount.safeParse(changed).data?.id;
}

/** The tokens of a sign-in as clients get them. */
export function signedInRecord({
  user,
  accessToken,
  refreshToken,
  expiresInSecs,
}: SignedIn): RpcResult<'auth.login'> {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresInSecs,
    user: userRecord(user),
  };
}

/** An account as its owner sees it. */
function userRecord({ id, email, name, isAdmin }: User): RpcResult<'auth.me'> {
  return { id, email, name, is_admin: isAdmin };
}
