import type { AuthLevel } from '@model-gateway/contracts';
import type { User } from '@model-gateway/accounts';

/** What a handler knows of its caller, by the auth level of its method. */
export type CallContext<Auth extends AuthLevel> = Auth extends 'jwt' | 'admin'
  ? { readonly user: User }
  : { readonly user: User | undefined };
