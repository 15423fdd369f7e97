import { PASSWORD_CHARS_MAX } from '@model-gateway/contracts';
import { argon2id, hash, verify } from 'argon2';

/** Keeps passwords as hashes, and checks them. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for a wrong password as for the right one, of whatever length. */
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/**
 * Checked in place of the hash of an account that does not exist, so that the answer takes as long. It is the hash of no
 * known password, with the parameters that new hashes are made with.
 */
export const NOBODYS_PASSWORD_HASH =
  '$argon2id$v=19$m=65536,t=3,p=4$74FTON0UillMeeMAeSH3pQ$M7YZou3T2RXrzeWvjtLT9OKZJkT+7l+uXuKnuObfkYo';

/** Passwords as argon2id with the library's current defaults. */
export const argon2Passwords: Passwords = {
  hash: (password) => hash(password, { type: argon2id }),
  async verify(passwordHash, password) {
    // Nobody has a longer one; hashing it would only cost time that the sender chooses.
    const isPossible = password.length <= PASSWORD_CHARS_MAX;
    return (await verify(passwordHash, isPossible ? password : '')) && isPossible;
  },
};
