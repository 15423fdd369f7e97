import type { SignIn, User, UserStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { classifyFailure } from '../connection/store-failure.ts';
import { isErasedAddress } from './erase-person.ts';

// Locked while an account is created, so that only one of several first accounts becomes the admin.
const FIRST_USER_LOCK = 4_711_001n;

const shown = { id: true, email: true, name: true, isAdmin: true } as const;

/** Accounts in Postgres. */
export function createPostgresUsers(connection: Connection): UserStore {
  return {
    async create({ id, email, name, passwordHash, becomesAdmin = 'if-first' }): Promise<User> {
      if (isErasedAddress(email)) throw emailTaken();
      try {
        return await connection.transaction(async (queries) => {
          await queries.$executeRaw`SELECT pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
          const isAdmin = await becomesAdminNow(queries, becomesAdmin);
          return queries.user.create({
            data: { id, email, name, passwordHash, isAdmin },
            select: shown,
          });
        });
      } catch (error) {
        const failure = classifyFailure(error);
        if (failure.kind === 'taken' && failure.constraint === 'users_email_key') {
          throw emailTaken(error);
        }
        throw error;
      }
    },

    findById: (id) =>
      connection.run(async (queries) => {
        const row = await queries.user.findUnique({
          where: { id, isActive: true },
          select: shown,
        });
        return row ?? undefined;
      }),

    findBySignIn: (signIn) => connection.run((queries) => findBySignIn(queries, signIn)),

    holdSignIn: (signIn) =>
      connection.run(async (queries) => {
        // Read after the lock: a change that held it may have ended the sign-in.
        await queries.$queryRaw`
          SELECT 1 FROM users WHERE id = ${signIn.userId}::uuid FOR KEY SHARE`;
        return findBySignIn(queries, signIn);
      }),

    isEmpty: () =>
      connection.run(
        async (queries) => (await queries.user.findFirst({ select: { id: true } })) === null,
      ),

    findOldestAdmin: () =>
      connection.run(async (queries) => {
        const row = await queries.user.findFirst({
          where: { isAdmin: true, isActive: true },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          select: shown,
        });
        return row ?? undefined;
      }),

    findByEmail: (email) =>
      connection.run(async (queries) => {
        const row = await queries.user.findUnique({
          where: { email, isActive: true },
          select: { ...shown, passwordHash: true },
        });
        if (row === null) return undefined;
        const { passwordHash, ...user } = row;
        return { user, passwordHash };
      }),
  };
}

async function findBySignIn(
  queries: Queries,
  { userId, familyId }: SignIn,
): Promise<User | undefined> {
  const rows = await queries.$queryRaw<User[]>`
    SELECT id, email, name, is_admin AS "isAdmin" FROM users
    WHERE id = ${userId}::uuid AND is_active AND NOT EXISTS (
      SELECT 1 FROM refresh_tokens
      WHERE family_id = ${familyId ?? null}::uuid AND revoked_at IS NOT NULL
    )`;
  return rows[0];
}

const emailTaken = (cause?: unknown): ServiceError =>
  new ServiceError('email_taken', 'email already registered', { cause });

async function becomesAdminNow(
  queries: Queries,
  rule: 'if-first' | 'if-no-admin' | 'always' | 'never',
): Promise<boolean> {
  if (rule === 'never' || rule === 'always') return rule === 'always';
  const where = rule === 'if-no-admin' ? { isAdmin: true } : {};
  return (await queries.user.findFirst({ where, select: { id: true } })) === null;
}
