import type {
  PasswordStore,
  SignIn,
  User,
  UserDirectory,
  UserStore,
} from '@model-gateway/accounts';
import type { AuthLevel } from '@model-gateway/contracts';
import type { Webhooks } from '@model-gateway/webhooks';

interface AnyCall {
  /** The address of the client, behind the proxies that are trusted. */
  readonly clientIp: string;
  /** The client is on this machine, and not behind a proxy. */
  readonly isLocalClient: boolean;
  /** The bearer is the admin token. */
  readonly hasAdminToken: boolean;
}

/** What a handler may change inside the transaction of its audit entry. */
export interface ChangeScope {
  readonly newAccounts: Pick<UserStore, 'create'>;
  readonly passwordStore: PasswordStore;
  readonly userDirectory: UserDirectory;
  readonly webhookRules: Webhooks;
}

/** For methods whose audit rule says `handler`: the change and its audit entry are stored together, or neither is. */
export interface AuditedContext {
  readonly change: <Changed>(work: (scope: ChangeScope) => Promise<Changed>) => Promise<Changed>;
}

/** What a handler knows about its caller, by the auth level of its method. */
export type CallContext<Auth extends AuthLevel> = Auth extends 'jwt' | 'admin'
  ? AnyCall & { readonly user: User; readonly signIn: SignIn }
  : Auth extends 'jwt-or-admin-token' | 'admin-or-admin-token'
    ? AnyCall & {
        /** Undefined when the caller used the admin token. */
        readonly user: User | undefined;
      }
    : AnyCall;
