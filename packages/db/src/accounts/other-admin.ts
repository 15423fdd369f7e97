import type { Queries } from '../connection/connection.ts';

/**
 * Whether an active admin is left without this user. Locks all active admins, so that of two concurrent changes, in whatever
 * processes, the second one sees what the first one left.
 */
export async function hasOtherAdmin(queries: Queries, userId: string): Promise<boolean> {
  const admins = await queries.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE is_admin AND is_active ORDER BY id FOR NO KEY UPDATE`;
  return admins.length !== 1 || admins[0]?.id !== userId;
}
