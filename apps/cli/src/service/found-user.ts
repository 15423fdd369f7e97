import { isAscii, type RpcResult } from '@model-gateway/contracts';
import { CliError } from '../cli-error.ts';
import type { Service } from './service.ts';

export type Account = RpcResult<'users.get'>;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const PAGE_MAX = 200;

/** The account with an id or email. */
export async function foundUser(
  service: Pick<Service, 'callAsAnyAdmin'>,
  emailOrId: string,
): Promise<Account> {
  if (UUID.test(emailOrId)) return service.callAsAnyAdmin('users.get', { user_id: emailOrId });
  const given = emailOrId.trim();
  const email = isAscii(given) ? given.toLowerCase() : given;
  let after: string | null = null;
  do {
    const page: RpcResult<'users.list'> = await service.callAsAnyAdmin('users.list', {
      search: email,
      limit: PAGE_MAX,
      after,
    });
    const user = page.users.find((one) => one.email === email);
    if (user !== undefined) return user;
    after = page.has_more ? page.after : null;
  } while (after !== null);
  throw new CliError(
    'not_found',
    `there is no account ${JSON.stringify(emailOrId)}`,
    'List them: gateway users list',
  );
}
