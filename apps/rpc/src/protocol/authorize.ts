import type { Accounts, User, UserStore } from '@model-gateway/accounts';
import { ServiceError, type MethodContract } from '@model-gateway/contracts';
import { constantTimeEqual } from '@model-gateway/kernel';
import type { CallContext } from './call-context.ts';

/** The credentials that the transport received. */
export interface Credentials {
  /** The bearer token, unless the connection was authenticated as a whole. */
  readonly bearer: string | undefined;
  /** The account of a connection that was authenticated when it was opened; valid until it closes. */
  readonly userId?: string | undefined;
  readonly clientIp: string;
}

/** Checks whether a caller may call a method; the only place of the RPC plane that decides this. */
export type Authorize = (
  name: string,
  contract: MethodContract,
  credentials: Credentials,
) => Promise<CallContext<'jwt-or-admin-token'>>;

interface AuthorizeDependencies {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
}

/** Compares a bearer token with the admin token in constant time; always false when none is configured. */
export function createAdminTokenCheck(
  adminToken: string | undefined,
): (bearer: string | undefined) => boolean {
  return (bearer) =>
    adminToken !== undefined && bearer !== undefined && constantTimeEqual(bearer, adminToken);
}

export function createAuthorize({
  accounts,
  users,
  isAdminToken,
}: AuthorizeDependencies): Authorize {
  async function requireUser({ bearer, userId }: Credentials): Promise<User> {
    const known = userId === undefined ? undefined : await users.findById(userId);
    const user = known ?? (bearer === undefined ? undefined : await accounts.authenticate(bearer));
    // Privileged methods give the same error, so that it does not reveal which methods need a privilege.
    if (user === undefined)
      throw new ServiceError('authentication_required', 'authentication required');
    return user;
  }

  return async (name, { auth, summary }, credentials) => {
    const { bearer, clientIp } = credentials;
    switch (auth) {
      case 'public':
        return { clientIp, user: undefined };
      case 'jwt':
        return { clientIp, user: await requireUser(credentials) };
      case 'admin': {
        const user = await requireUser(credentials);
        if (!user.isAdmin) {
          throw new ServiceError('admin_required', `admin access required for ${name}: ${summary}`);
        }
        return { clientIp, user };
      }
      case 'admin-token':
        if (isAdminToken(bearer)) return { clientIp, user: undefined };
        throw new ServiceError('admin_token_required', 'admin access required');
      case 'jwt-or-admin-token':
        return {
          clientIp,
          user: isAdminToken(bearer) ? undefined : await requireUser(credentials),
        };
    }
  };
}
