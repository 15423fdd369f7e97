import type { IdentityStore, ProviderAccount } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { leaveGroups } from './erase-person.ts';
import { endGivenBy, madeByAdmin } from './made-by-admin.ts';
import { hasOtherAdmin } from './other-admin.ts';
import { revokeSignIns } from './postgres-refresh-tokens.ts';

/** The bindings of accounts to persons of the identity provider, in Postgres. */
export function createPostgresIdentities(connection: Connection): IdentityStore {
  return {
    findByPerson: ({ issuer, subject }) =>
      connection.run((queries) =>
        findAccount(queries, Prisma.sql`p.issuer = ${issuer} AND p.subject = ${subject}`),
      ),

    findByEmail: (email) =>
      connection.run((queries) => findAccount(queries, Prisma.sql`u.email = ${email}`)),

    bind: ({ userId, person, passwordHash, hasProviderRole }) =>
      connection.run(async (queries) => {
        // Waits for a change of the account or its password that is under way.
        const bound = await queries.$executeRaw`
          INSERT INTO provider_identities (user_id, issuer, subject, gave_role)
          SELECT id, ${person.issuer}, ${person.subject}, ${hasProviderRole} FROM users
          WHERE id = ${userId}::uuid AND is_active AND password_hash = ${passwordHash}
          FOR SHARE
          ON CONFLICT DO NOTHING`;
        return bound > 0;
      }),

    takeOver: ({ userId, person, nextHash, isAdmin, now }) =>
      connection.transaction(async (queries) => {
        const keepsRole = isAdmin || !(await hasOtherAdmin(queries, userId));
        // Calls of the user that are under way end first; those that begin later find their sign-in ended.
        await queries.$queryRaw`SELECT 1 FROM users WHERE id = ${userId}::uuid FOR UPDATE`;
        const [user] = await queries.$queryRaw<ProviderAccount['user'][]>`
          UPDATE users u SET
            password_hash = ${nextHash},
            is_admin = is_admin AND ${keepsRole} OR ${isAdmin},
            provider_claim = false, provider_claim_by = NULL, updated_at = clock_timestamp()
          WHERE id = ${userId}::uuid AND is_active AND ${IS_CLAIMABLE}
          RETURNING id, email, name, is_admin AS "isAdmin"`;
        if (user === undefined) return undefined;
        const { issuer, subject } = person;
        await queries.providerIdentity.deleteMany({ where: { userId } });
        await queries.providerIdentity.create({
          data: { userId, issuer, subject, gaveRole: isAdmin },
          select: { userId: true },
        });
        await endAccess(queries, userId, now);
        // What it gave was given by who had it before.
        await endGivenBy(queries, userId);
        return user;
      }),

    giveRole: (userId) =>
      connection.transaction(async (queries) => {
        await queries.user.updateMany({ where: { id: userId }, data: { isAdmin: true } });
        await queries.providerIdentity.updateMany({ where: { userId }, data: { gaveRole: true } });
      }),

    takeRole: (userId) =>
      connection.transaction(async (queries) => {
        if (!(await hasOtherAdmin(queries, userId))) return false;
        await queries.user.updateMany({ where: { id: userId }, data: { isAdmin: false } });
        await endGivenBy(queries, userId);
        await queries.providerIdentity.updateMany({ where: { userId }, data: { gaveRole: false } });
        return true;
      }),
  };
}

const IS_CLAIMABLE = Prisma.sql`u.provider_claim AND ${madeByAdmin(Prisma.sql`u.provider_claim_by`)}`;

interface FoundRow extends Omit<ProviderAccount, 'user' | 'person'> {
  /** Null, as the subject is, for an account without a person. */
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isAdmin: boolean;
}

async function findAccount(
  queries: Queries,
  condition: Prisma.Sql,
): Promise<ProviderAccount | undefined> {
  const [row] = await queries.$queryRaw<FoundRow[]>`
    SELECT u.id, u.email, u.name, u.is_admin AS "isAdmin", u.is_active AS "isActive",
      u.password_hash AS "passwordHash", p.issuer, p.subject,
      COALESCE(p.gave_role, false) AS "hasProviderRole", ${IS_CLAIMABLE} AS "isClaimable"
    FROM users u LEFT JOIN provider_identities p ON p.user_id = u.id
    WHERE ${condition}`;
  if (row === undefined) return undefined;
  const { id, email, name, isAdmin, issuer, subject, ...account } = row;
  const person = issuer === null || subject === null ? undefined : { issuer, subject };
  return { ...account, person, user: { id, email, name, isAdmin } };
}

/** Ends everything by which others could use the account, and what they could do in its name. */
async function endAccess(queries: Queries, userId: string, now: Date): Promise<void> {
  await revokeSignIns(queries, userId, now);
  await queries.passwordReset.deleteMany({ where: { userId } });
  await queries.signInAddress.deleteMany({ where: { userId } });
  await queries.apiKey.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt: now } });
  await leaveGroups(queries, { id: userId, successorId: undefined });
  await queries.groupInvitation.deleteMany({ where: { createdById: userId } });
  await queries.webhook.deleteMany({ where: { createdById: userId } });
}
