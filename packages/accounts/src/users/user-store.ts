import type { SignIn } from './sign-in.ts';

/** A user with an active account. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isAdmin: boolean;
}

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  /** When the account becomes an admin: as the first account, if there is no admin yet, always, or never. */
  readonly becomesAdmin?: 'if-first' | 'if-no-admin' | 'always' | 'never';
}

export interface UserStore {
  /**
   * The first account becomes the admin unless it says otherwise; one of them when several are created at once. Rejects with
   * `email_taken` when the email has an account.
   */
  create(user: NewUser): Promise<User>;
  /** Undefined when the user is unknown or deactivated, like the other searches. */
  findById(id: string): Promise<User | undefined>;
  /** The user, unless the refresh tokens of the sign-in were revoked. One query, because every call makes it. */
  findBySignIn(signIn: SignIn): Promise<User | undefined>;
  /** The same inside a transaction, until whose end the account is neither erased nor taken over. */
  holdSignIn(signIn: SignIn): Promise<User | undefined>;
  /** Whether there is any account. */
  isEmpty(): Promise<boolean>;
  /** The account for calls with the admin token. */
  findOldestAdmin(): Promise<User | undefined>;
  findByEmail(
    email: string,
  ): Promise<{ readonly user: User; readonly passwordHash: string } | undefined>;
}
