import {
  GROUP_REQUIREMENTS,
  type Accounts,
  type Group,
  type GroupAccess,
  type GroupAction,
  type User,
  type UserStore,
} from '@model-gateway/accounts';
import { ServiceError, type MethodContract } from '@model-gateway/contracts';
import { constantTimeEqual } from '@model-gateway/kernel';
import { z } from 'zod';
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
  params: unknown,
) => Promise<CallContext<'jwt-or-admin-token'> & { readonly group?: Group | undefined }>;

interface AuthorizeDependencies {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly groups: GroupAccess;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
}

const inGroup = z.object({ group_id: z.uuid() });

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
  groups,
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

  /** Checks the role in the group before the params are validated, as the contract requires. */
  async function authorizeGroup(
    name: string,
    params: unknown,
    user: User,
  ): Promise<Group | undefined> {
    if (!isGroupAction(name)) return undefined;
    const named = inGroup.safeParse(params);
    return named.success ? groups.authorize(user, named.data.group_id, name) : undefined;
  }

  return async (name, { auth, summary }, credentials, params) => {
    const { bearer, clientIp } = credentials;
    switch (auth) {
      case 'public':
        return { clientIp, user: undefined };
      case 'jwt':
      case 'admin': {
        const user = await requireUser(credentials);
        if (auth === 'admin' && !user.isAdmin) {
          throw new ServiceError('admin_required', `admin access required for ${name}: ${summary}`);
        }
        return { clientIp, user, group: await authorizeGroup(name, params, user) };
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

function isGroupAction(method: string): method is GroupAction {
  return Object.hasOwn(GROUP_REQUIREMENTS, method);
}
