import type { z } from 'zod';

/** Who may call a method. */
export type AuthLevel = 'public' | 'jwt' | 'admin' | 'admin-token' | 'jwt-or-admin-token';

/** One RPC method, declared once: validation, types, discovery and the reference are all read from it. */
export interface MethodContract<
  Auth extends AuthLevel = AuthLevel,
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  readonly auth: Auth;
  /** One line for the reference. */
  readonly summary: string;
  readonly params: Params;
  readonly result: Result;
  /** Calls over one socket are carried out in the order in which they came; all others may overtake each other. */
  readonly isOrdered?: true;
  /** A method of our own, beside those that every such service has. */
  readonly isExtension?: true;
}

/** Declares a method; it only gives the literal its type. */
export const method = <
  const Auth extends AuthLevel,
  Params extends z.ZodType,
  Result extends z.ZodType,
>(
  contract: MethodContract<Auth, Params, Result>,
): MethodContract<Auth, Params, Result> => contract;
