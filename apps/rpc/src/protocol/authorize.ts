import {
  GROUP_REQUIREMENTS,
  type Accounts,
  type Authenticated,
  type Group,
  type GroupAccess,
  type GroupAction,
  type SignIn,
  type User,
} from '@model-gateway/accounts';
import { ServiceError, type MethodContract } from '@model-gateway/contracts';
import { constantTimeEqual } from '@model-gateway/kernel';
import { z } from 'zod';
import type { CallContext } from './call-context.ts';

/** The credentials that the transport received. */
export interface Credentials {
  /** The bearer token, unless the connection was authenticated as a whole. */
  readonly bearer: string | undefined;
  /** The sign-in of a connection that was authenticated when it was opened. */
  readonly signIn?: SignIn | undefined;
  readonly clientIp: string;
  /** The client is on this machine, and not behind a proxy. */
  readonly isLocalClient: boolean;
}

/** Checks whether a caller may call a method; the only place of the RPC plane that decides this. */
export type Authorize = (
  name: string,
  contract: MethodContract,
  credentials: Credentials,
  params: unknown,
) => Promise<
  CallContext<'public'> & {
    readonly user: User | undefined;
    readonly signIn?: SignIn;
    readonly group?: Group | undefined;
  }
>;

interface AuthorizeDependencies {
  readonly accounts: Pick<Accounts, 'authenticate' | 'findUser'>;
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
  groups,
  isAdminToken,
}: AuthorizeDependencies): Authorize {
  async function requireAdmin(
    name: string,
    { summary }: MethodContract,
    credentials: Credentials,
  ): Promise<Authenticated> {
    const authenticated = await requireUser(credentials);
    if (authenticated.user.isAdmin) return authenticated;
    throw new ServiceError('admin_required', `admin access required for ${name}: ${summary}`);
  }

  async function requireUser(credentials: Credentials): Promise<Authenticated> {
    const authenticated = await authenticate(credentials);
    // Privileged methods give the same error, so that it does not reveal which methods need a privilege.
    if (authenticated === undefined)
      throw new ServiceError('authentication_required', 'authentication required');
    return authenticated;
  }

  /** A socket is checked with every call, because its sign-in may have ended since it was opened. */
  async function authenticate({ bearer, signIn }: Credentials): Promise<Authenticated | undefined> {
    if (signIn === undefined)
      return bearer === undefined ? undefined : accounts.authenticate(bearer);
    const user = await accounts.findUser(signIn);
    return user && { user, signIn };
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

  return async (name, contract, credentials, params) => {
    const { auth } = contract;
    const { bearer, clientIp, isLocalClient } = credentials;
    const client = { clientIp, isLocalClient, hasAdminToken: isAdminToken(bearer) };
    switch (auth) {
      case 'public':
        return { ...client, user: undefined };
      case 'jwt':
      case 'admin': {
        const { user, signIn } = await (auth === 'admin'
          ? requireAdmin(name, contract, credentials)
          : requireUser(credentials));
        return { ...client, user, signIn, group: await authorizeGroup(name, params, user) };
      }
      case 'admin-token':
        if (client.hasAdminToken) return { ...client, user: undefined };
        throw new ServiceError('admin_token_required', 'admin access required');
      case 'admin-or-admin-token':
        return client.hasAdminToken
          ? { ...client, user: undefined }
          : { ...client, ...(await requireAdmin(name, contract, credentials)) };
      case 'jwt-or-admin-token':
        return client.hasAdminToken
          ? { ...client, user: undefined }
          : { ...client, ...(await requireUser(credentials)) };
    }
  };
}

function isGroupAction(method: string): method is GroupAction {
  return Object.hasOwn(GROUP_REQUIREMENTS, method);
}
