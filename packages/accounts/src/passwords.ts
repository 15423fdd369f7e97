import { argon2id, hash } from 'argon2';

/** Hashes a password for keeping (argon2id with the library's current defaults). */
export const hashPassword = (password: string): Promise<string> =>
  hash(password, { type: argon2id });
