import { Prisma } from '../generated/client.ts';

/** A request may end after its user was erased: nothing that the user wrote is stored then. */
export const erasedUser = (row: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT FROM users account WHERE account.id = ${row}.user_id AND account.erased_at IS NOT NULL`;
