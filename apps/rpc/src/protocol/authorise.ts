import type { Accounts, User } from '@model-gateway/accounts';
import { ServiceError, type MethodContract } from '@model-gateway/contracts';
import { constantTimeEqual } from '@model-gateway/kernel';
import type { CallContext } from './call-context.ts';

/** Who is calling, as far as the transport can tell. */
export interface Credentials {
  readonly bearer: string | undefined;
  readonly clientIp: string;
}

/** Lets a caller through to a method, or refuses: the one place where the plane decides this. */
export type Authorise = (
  name: string,
  contract: MethodContract,
  credentials: Credentials,
) => Promise<CallContext<'jwt-or-admin-token'>>;

interface AuthoriseDependencies {
  readonly accounts: Accounts;
  readonly adminToken: string | undefined;
}

export function createAuthorise({ accounts, adminToken }: AuthoriseDependencies): Authorise {
  const isAdminToken = (bearer: string | undefined): boolean =>
    adminToken !== undefined && bearer !== undefined && constantTimeEqual(bearer, adminToken);

  async function signedIn(bearer: string | undefined): Promise<User> {
    const user = bearer === undefined ? undefined : await accounts.authenticate(bearer);
    // Also said to callers of privileged methods: what needs a privilege is not revealed to strangers.
    if (user === undefined)
      throw new ServiceError('authentication_required', 'authentication required');
    return user;
  }

  return async (name, { auth, summary }, { bearer, clientIp }) => {
    switch (auth) {
      case 'public':
        return { clientIp, user: undefined };
      case 'jwt':
        return { clientIp, user: await signedIn(bearer) };
      case 'admin': {
        const user = await signedIn(bearer);
        if (!user.isAdmin) {
          throw new ServiceError('admin_required', `admin access required for ${name}: ${summary}`);
        }
        return { clientIp, user };
      }
      case 'admin-token':
        if (isAdminToken(bearer)) return { clientIp, user: undefined };
        throw new ServiceError('admin_token_required', 'admin access required');
      case 'jwt-or-admin-token':
        return { clientIp, user: isAdminToken(bearer) ? undefined : await signedIn(bearer) };
    }
  };
}
