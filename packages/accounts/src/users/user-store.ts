/** A user with an account. */
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
}

export interface UserStore {
  /**
   * The first account becomes the admin, also when several are created at once. Rejects with `email_taken` when the email has
   * an account.
   */
  create(user: NewUser): Promise<User>;
  findById(id: string): Promise<User | undefined>;
  /** The account for calls with the admin token. */
  findOldestAdmin(): Promise<User | undefined>;
  findByEmail(
    email: string,
  ): Promise<{ readonly user: User; readonly passwordHash: string } | undefined>;
}
