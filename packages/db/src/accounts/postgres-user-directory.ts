import { accountErased, type AccountView, type UserDirectoryStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { eraseContent, erasePerson } from './erase-person.ts';
import { endGivenBy, madeByAdmin } from './made-by-admin.ts';
import { hasOtherAdmin } from './other-admin.ts';
import { revokeSignIns } from './postgres-refresh-tokens.ts';

/** All accounts, in Postgres. */
export function createPostgresUserDirectory(connection: Connection): UserDirectoryStore {
  return {
    list: ({ search, isActive, isAdmin, after, countMax }) =>
      connection.run(
        (queries) => queries.$queryRaw<AccountView[]>`
          SELECT ${SHOWN} FROM users u
          WHERE (${search ?? null}::text IS NULL
              OR position(lower(${search ?? ''}) IN u.email) > 0
              OR position(lower(${search ?? ''}) IN lower(u.name)) > 0)
            AND u.is_active = COALESCE(${isActive ?? null}::boolean, u.is_active)
            AND u.is_admin = COALESCE(${isAdmin ?? null}::boolean, u.is_admin)
            ${after === undefined ? Prisma.empty : listedAfter(after)}
          ORDER BY u.created_at, u.id
          LIMIT ${countMax}`,
      ),

    find: (userId) => connection.run((queries) => findAccount(queries, userId)),

    findIdByEmail: (email) =>
      connection.run(async (queries) => {
        const row = await queries.user.findUnique({ where: { email }, select: { id: true } });
        return row?.id;
      }),

    update: (userId, changes, now) =>
      connection.transaction(async (queries) => {
        if (changes.isAdmin === false || changes.isActive === false)
          await assertOtherAdmin(queries, userId);
        const before = await lockAccount(queries, userId, Prisma.sql`FOR NO KEY UPDATE`);
        if (before === undefined) return undefined;
        if (before.erasedAt !== null) throw accountErased();
        const { name, isAdmin, isActive, tier, providerClaim } = changes;
        if (tier !== undefined) await assertTier(queries, tier);
        await queries.user.update({
          where: { id: userId },
          data: {
            ...(name === undefined ? {} : { name }),
            ...(isAdmin === undefined ? {} : { isAdmin }),
            ...(isActive === undefined ? {} : { isActive }),
            ...(tier === undefined ? {} : { tierName: tier }),
            ...(providerClaim === undefined
              ? {}
              : {
                  providerClaim: providerClaim.isAllowed,
                  providerClaimById: providerClaim.byId ?? null,
                }),
          },
          select: { id: true },
        });
        if (isAdmin === false || isActive === false) await endGivenBy(queries, userId);
        // A role that an admin gave does not end with a group of the provider.
        if (isAdmin !== undefined)
          await queries.providerIdentity.updateMany({
            where: { userId },
            data: { gaveRole: false },
          });
        if (isActive === false) {
          await queries.passwordReset.deleteMany({ where: { userId } });
          await revokeSignIns(queries, userId, now);
        }
        return findAccount(queries, userId);
      }),

    erase: (userId, successorId, now) =>
      connection.transaction(async (queries) => {
        await assertOtherAdmin(queries, userId);
        // Inserts of rows that refer to the account wait for this lock too.
        const account = await lockAccount(queries, userId, Prisma.sql`FOR UPDATE`);
        if (account === undefined) return false;
        await erasePerson(queries, { ...account, id: userId, successorId, now });
        return true;
      }),

    eraseContent: (userId) => connection.run((queries) => eraseContent(queries, userId)),
  };
}

// The last sign-in is known as long as its address is.
const SHOWN = Prisma.sql`
  u.id, u.email, u.name, u.is_admin AS "isAdmin", u.is_active AS "isActive",
  EXISTS (SELECT 1 FROM provider_identities WHERE user_id = u.id) AS "isProviderBound",
  u.provider_claim AND ${madeByAdmin(Prisma.sql`u.provider_claim_by`)} AS "isClaimable",
  COALESCE(u.tier, 'free') AS "tier", u.created_at AS "createdAt", u.erased_at AS "erasedAt",
  (SELECT max(signed_in_at) FROM sign_in_addresses WHERE user_id = u.id) AS "lastSignInAt",
  (SELECT count(*)::integer FROM api_keys WHERE user_id = u.id AND revoked_at IS NULL) AS "activeKeys"`;

const listedAfter = (userId: string): Prisma.Sql =>
  Prisma.sql`AND (u.created_at, u.id) > (SELECT created_at, id FROM users WHERE id = ${userId}::uuid)`;

async function findAccount(queries: Queries, userId: string): Promise<AccountView | undefined> {
  const rows = await queries.$queryRaw<AccountView[]>`
    SELECT ${SHOWN} FROM users u WHERE u.id = ${userId}::uuid`;
  return rows[0];
}

interface LockedAccount {
  readonly email: string;
  readonly erasedAt: Date | null;
}

/** Locked before it is changed, so that no sign-in begins in between. */
async function lockAccount(
  queries: Queries,
  userId: string,
  strength: Prisma.Sql,
): Promise<LockedAccount | undefined> {
  const rows = await queries.$queryRaw<LockedAccount[]>`
    SELECT email, erased_at AS "erasedAt" FROM users
    WHERE id = ${userId}::uuid ${strength}`;
  return rows[0];
}

async function assertOtherAdmin(queries: Queries, userId: string): Promise<void> {
  if (await hasOtherAdmin(queries, userId)) return;
  throw new ServiceError(
    'account_protected',
    'the last active admin cannot be demoted, deactivated or erased: make another account an admin first',
  );
}

async function assertTier(queries: Queries, name: string): Promise<void> {
  const tier = await queries.billingTier.findUnique({ where: { name }, select: { name: true } });
  if (tier === null) throw new ServiceError('not_found', 'tier not found');
}
