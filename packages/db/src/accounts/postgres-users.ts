import type { User, UserStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection } from '../connection/connection.ts';
import { classifyFailure } from '../connection/store-failure.ts';

// Locked while an account is created, so that only one of several first accounts becomes the admin.
const FIRST_USER_LOCK = 4_711_001n;

const shown = { id: true, email: true, name: true, isAdmin: true } as const;

/** Accounts in Postgres. */
export function createPostgresUsers(connection: Connection): UserStore {
  return {
    async create({ id, email, name, passwordHash }): Promise<User> {
      try {
        return await connection.transaction(async (queries) => {
          await queries.$executeRaw`SELECT pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
          const isAdmin = (await queries.user.findFirst({ select: { id: true } })) === null;
          return queries.user.create({
            data: { id, email, name, passwordHash, isAdmin },
            select: shown,
          });
        });
      } catch (error) {
        const failure = classifyFailure(error);
        if (failure.kind === 'taken' && failure.constraint === 'users_email_key') {
          throw new ServiceError('email_taken', 'email already registered', { cause: error });
        }
        throw error;
      }
    },

    findById: (id) =>
      connection.run(async (queries) => {
        const row = await queries.user.findUnique({ where: { id }, select: shown });
        return row ?? undefined;
      }),

    findOldestAdmin: () =>
      connection.run(async (queries) => {
        const row = await queries.user.findFirst({
          where: { isAdmin: true },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          select: shown,
        });
        return row ?? undefined;
      }),

    findByEmail: (email) =>
      connection.run(async (queries) => {
        const row = await queries.user.findUnique({
          where: { email },
          select: { ...shown, passwordHash: true },
        });
        if (row === null) return undefined;
        const { passwordHash, ...user } = row;
        return { user, passwordHash };
      }),
  };
}
