import type { Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';

/**
 * Whether what an admin gave is still valid: it ends when its maker stops being an active admin. What was made with the admin
 * token has no maker.
 */
export const madeByAdmin = (makerId: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  ${makerId} IS NULL OR EXISTS (
    SELECT 1 FROM users maker WHERE maker.id = ${makerId} AND maker.is_active AND maker.is_admin
  ))`;

/** Ends what an admin gave, so that it does not come back with their role. */
export async function endGivenBy(queries: Queries, adminId: string): Promise<void> {
  await queries.passwordReset.deleteMany({ where: { createdById: adminId } });
  await queries.user.updateMany({
    where: { providerClaimById: adminId },
    data: { providerClaim: false, providerClaimById: null },
  });
}
