import { Prisma } from '../generated/client.ts';

/**
 * Whether what an admin gave is still valid: it ends when its maker stops being an active admin. What was made with the admin
 * token has no maker.
 */
export const madeByAdmin = (makerId: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  ${makerId} IS NULL OR EXISTS (
    SELECT 1 FROM users maker WHERE maker.id = ${makerId} AND maker.is_active AND maker.is_admin
  ))`;
