import type { Queries } from '../connection/connection.ts';

/** Until the end of the transaction no other one that counts what the user has comes in between. */
export async function lockUser(queries: Queries, userId: string): Promise<void> {
  await queries.$executeRaw`SELECT 1 FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
}
