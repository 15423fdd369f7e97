import type { Accounts, User, UserStore } from '@model-gateway/accounts';
import { ServiceError, type MethodContract } from '@model-gateway/contracts';
import { constantTimeEqual } from '@model-gateway/kernel';
import type { CallContext } from './call-context.ts';

/** Who is calling, as far as the transport can tell. */
export interface Credentials {
  /** What came as a bearer, unless the connection was authenticated as a whole. */
  readonly bearer: string | undefined;
  /** The account of a connection that was authenticated when it was opened; it stays so for as long as it is open. */
  readonly userId?: string | undefined;
  readonly clientIp: string;
}

/** Lets a caller through to a method, or refuses: the one place where the plane decides this. */
export type Authorise = (
  name: string,
  contract: MethodContract,
  credentials: Credentials,
) => Promise<CallContext<'jwt-or-admin-token'>>;

interface AuthoriseDependencies {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
}

/** Compares a bearer with the admin token in constant time; without a configured one, nothing is it. */
export function createAdminTokenCheck(
  adminToken: string | undefined,
): (bearer: string | undefined) => boolean {
  return (bearer) =>
    adminToken !== undefined && bearer !== undefined && constantTimeEqual(bearer, adminToken);
}

export function createAuthorise({
  accounts,
  users,
  isAdminToken,
}: AuthoriseDependencies): Authorise {
  async function signedIn({ bearer, userId }: Credentials): Promise<User> {
    const known = userId === undefined ? undefined : await users.findById(userId);
    const user = known ?? (bearer === undefined ? undefined : await accounts.authenticate(bearer));
    // Also said to callers of privileged methods: what needs a privilege is not revealed to strangers.
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
        return { clientIp, user: await signedIn(credentials) };
      case 'admin': {
        const user = await signedIn(credentials);
        if (!user.isAdmin) {
          throw new ServiceError('admin_required', `admin access required for ${name}: ${summary}`);
        }
        return { clientIp, user };
      }
      case 'admin-token':
        if (isAdminToken(bearer)) return { clientIp, user: undefined };
        throw new ServiceError('admin_token_required', 'admin access required');
      case 'jwt-or-admin-token':
        return { clientIp, user: isAdminToken(bearer) ? undefined : await signedIn(credentials) };
    }
  };
}
