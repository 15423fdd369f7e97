import type { z } from 'zod';

/** Who may call a method. */
export type AuthLevel =
  | 'public'
  | 'jwt'
  | 'admin'
  | 'admin-token'
  | 'admin-or-admin-token'
  | 'jwt-or-admin-token';

/** One RPC method, declared once: validation, types, discovery and the reference all use it. */
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
  /** The result contains a secret that is shown once: no copy of it is sent to a session. */
  readonly hasSecretResult?: true;
  /** Calls over one socket run in the order of arrival; calls of other methods run concurrently. */
  readonly isOrdered?: true;
  /** Parts of the params are passed on, so that their numbers keep their text. */
  readonly passesParams?: true;
  /** A method that the specification does not contain. */
  readonly isExtension?: true;
}

/** Declares a method; gives the object literal its type. */
export const method = <
  const Auth extends AuthLevel,
  Params extends z.ZodType,
  Result extends z.ZodType,
>(
  contract: MethodContract<Auth, Params, Result>,
): MethodContract<Auth, Params, Result> => contract;
