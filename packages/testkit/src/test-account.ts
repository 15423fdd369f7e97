import { createAccessTokens } from '@model-gateway/accounts';
import { createDatabase } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import type { AppContext } from '@model-gateway/server-process';
import { rpcCall } from './rpc-call.ts';
import { watchSecret } from './secret-watch.ts';

const TOKEN_TTL_SECS = 86_400;

/** An account, with a token that speaks for it. */
export interface TestAccount {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

/**
 * Makes an account whose password is `long enough`; the first one of a database is the admin. Nothing is hashed at full
 * cost, which takes a quarter of a second: tests of registering and signing in call `auth.register` instead.
 */
export async function createTestAccount(
  context: Pick<AppContext, 'database' | 'jwtSecret' | 'clock'>,
  email: string,
): Promise<TestAccount> {
  const id = await insertAccount(context.database, email);
  return { id, email, token: accessTokenFor(context, id) };
}

/** A token that speaks for an account for a day of this clock. */
export function accessTokenFor(
  { jwtSecret, clock }: Pick<AppContext, 'jwtSecret' | 'clock'>,
  userId: string,
): string {
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: TOKEN_TTL_SECS, clock });
  const token = tokens.sign(userId);
  watchSecret('an access token', token);
  return token;
}

/** Makes such an account for a management plane in another process, and signs in to it; answers the access token. */
export async function signInToProcess(
  { url }: { readonly url: string },
  databaseUrl: string,
  email: string,
): Promise<string> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  await insertAccount(database, email);
  await database.close();
  const { result } = await rpcCall(url, 'auth.login', { email, password: 'long enough' });
  return (result as { access_token: string }).access_token;
}

/** Only inserts the account, and answers its id. */
export async function insertAccount(
  { users }: Pick<AppContext['database'], 'users'>,
  email: string,
  id = newId(),
): Promise<string> {
  await users.create({ id, email, name: '', passwordHash: CHEAP_HASH });
  return id;
}

// Of `long enough`, with the lowest cost.
const CHEAP_HASH =
  '$argon2id$v=19$m=1024,t=2,p=1$2WkVhRUxL5HCYuQ+A2w38A$7vKEcqmjNBZQm6TucaW3SK7CTehy1OJL0EeQ1c+RfdA';
