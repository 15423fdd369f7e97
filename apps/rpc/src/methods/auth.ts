import type { Accounts, SignedIn } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { Handlers } from '../protocol/handlers.ts';

export function createAuthMethods(accounts: Accounts): Pick<Handlers, 'auth.register'> {
  return {
    'auth.register': async (applicant) => signedInRecord(await accounts.register(applicant)),
  };
}

function signedInRecord({
  user,
  accessToken,
  refreshToken,
  expiresInSecs,
}: SignedIn): RpcResult<'auth.register'> {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresInSecs,
    user: { id: user.id, email: user.email, name: user.name, is_admin: user.isAdmin },
  };
}
