/** A person with an account. */
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

/** Where accounts are kept. */
export interface UserStore {
  /**
   * The first account ever created becomes the admin, also when many are created at once.
   * Rejects with `email_taken` when the email has an account.
   */
  create(user: NewUser): Promise<User>;
  findById(id: string): Promise<User | undefined>;
  /** The account that calls with the admin token act as. */
  findOldestAdmin(): Promise<User | undefined>;
  findByEmail(
    email: string,
  ): Promise<{ readonly user: User; readonly passwordHash: string } | undefined>;
}
