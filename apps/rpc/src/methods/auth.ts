import type { SignedIn, User } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createAuthMethods({ accounts, passwordChanges }: Services): HandlersOf<'auth'> {
  return {
    'auth.register': async (params, { change, clientIp, isLocalClient, hasAdminToken }) => {
      const applicant = { ...params, clientIp, isLocalClient, hasAdminToken };
      return signedInRecord(
        await accounts.register(applicant, (create) =>
          change(({ newAccounts }) => create(newAccounts)),
        ),
      );
    },
    'auth.login': async ({ email, password }, { clientIp }) =>
      signedInRecord(await accounts.login({ email, password, clientIp })),
    'auth.refresh': async ({ refresh_token }) =>
      signedInRecord(await accounts.refresh(refresh_token)),
    'auth.logout': async (_params, { signIn }) => {
      await accounts.logout(signIn);
      return { ok: true };
    },
    'auth.password.change': async ({ current, next }, { change, ...caller }) => {
      const { user, signIn, clientIp } = caller;
      await passwordChanges.change({ user, signIn, current, next, clientIp }, (store) =>
        change(({ passwordStore }) => store(passwordStore)),
      );
      return { ok: true };
    },
    'auth.password.reset': async ({ token, password }, { clientIp, change }) => {
      await passwordChanges.reset({ token, password, clientIp }, (store) =>
        change(({ passwordStore }) => store(passwordStore)),
      );
      return { ok: true };
    },
    'auth.me': async (_params, { user }) => userRecord(user),
  };
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
