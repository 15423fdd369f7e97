import type { User } from '@model-gateway/accounts';
import type { AuthLevel } from '@model-gateway/contracts';

interface AnyCall {
  /** The address of the client, behind the proxies that are trusted. */
  readonly clientIp: string;
}

/** What a handler knows about its caller, by the auth level of its method. */
export type CallContext<Auth extends AuthLevel> = Auth extends 'jwt' | 'admin'
  ? AnyCall & { readonly user: User }
  : Auth extends 'jwt-or-admin-token'
    ? AnyCall & {
        /** Undefined when the caller used the admin token. */
        readonly user: User | undefined;
      }
    : AnyCall;
