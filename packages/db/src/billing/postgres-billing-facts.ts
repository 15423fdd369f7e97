import { FREE_TIER, type BillingFacts } from '@model-gateway/billing';
import { readAccounts } from './account-states.ts';
import { readChangedFacts } from './changed-facts.ts';
import type { Connection } from '../connection/connection.ts';
import { readTiers } from './tier-limits.ts';
import { readBudgets } from '../usage/budget-usage.ts';
import { readWindows } from '../usage/window-usage.ts';

/** Quotas and accounts in the database. */
export function createPostgresBillingFacts(connection: Connection): BillingFacts {
  return {
    window: (window) =>
      connection.run(async (queries) => only(await readWindows(queries, [window]))),
    account: (account) =>
      connection.run(async (queries) => only(await readAccounts(queries, [account]))),
    budget: (window) =>
      connection.run(async (queries) => only(await readBudgets(queries, [window]))),
    tierOf: (userId) =>
      connection.run(
        async (queries) => (await readTiers(queries, [userId])).get(userId) ?? FREE_TIER,
      ),
    payingUser: (userId) =>
      connection.run(
        async (queries) =>
          (await queries.user.findFirst({
            where: { id: userId, erasedAt: null },
            select: { email: true, isAdmin: true },
          })) ?? undefined,
      ),
    changedSince: (time) => readChangedFacts(connection, time),
  };
}

/** The result for a single item. */
function only<Answer>(answers: readonly Answer[]): Answer {
  const [answer] = answers;
  if (answer === undefined) throw new Error('the database returned no row');
  return answer;
}
