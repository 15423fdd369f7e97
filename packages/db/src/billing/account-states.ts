import type { AccountState, DrawingAccount } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

const UNOPENED: AccountState = { balance: 0, hasHistory: false, increases: 0, version: 0 };

/**
 * The state of each account, in their order. The order of the entries is that of an index: without it, if there are few accounts,
 * Postgres reads the table until it finds an entry of this one, or to its end.
 */
export async function readAccounts(
  queries: RawQueries,
  accounts: readonly DrawingAccount[],
): Promise<readonly (DrawingAccount & AccountState)[]> {
  if (accounts.length === 0) return [];
  const rows = await queries.$queryRaw<AccountState[]>`
    SELECT
      coalesce(account.balance, 0)::double precision AS balance,
      coalesce(account.balance, 0) > 0 OR entry.id IS NOT NULL AS "hasHistory",
      coalesce(account.increases, 0)::double precision AS increases,
      coalesce(account.version, 0)::double precision AS version
    FROM unnest(
      ${arrayText(accounts.map(({ type }) => type))}::text[],
      ${arrayText(accounts.map(({ id }) => id))}::uuid[]
    ) WITH ORDINALITY AS requested (owner_type, owner_id, position)
    LEFT JOIN ledger_accounts account
      ON account.owner_type = requested.owner_type AND account.owner_id = requested.owner_id
    LEFT JOIN LATERAL (
      SELECT id FROM ledger_entries WHERE account_id = ANY (ARRAY[account.id])
      ORDER BY account_id, id DESC LIMIT 1
    ) AS entry ON true
    ORDER BY requested.position`;
  return accounts.map((account, index) => ({ ...account, ...(rows[index] ?? UNOPENED) }));
}
