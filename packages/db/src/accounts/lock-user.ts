import { ServiceError } from '@model-gateway/contracts';
import type { Queries } from '../connection/connection.ts';

/**
 * Until the end of the transaction no other one that counts what the user has comes in between. Rejects for a user who is not
 * active, such as one who was erased a moment ago.
 */
export async function lockUser(queries: Queries, userId: string): Promise<void> {
  const active = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM users WHERE id = ${userId}::uuid AND is_active FOR NO KEY UPDATE`;
  if (active.length === 0) throw new ServiceError('not_found', 'user not found');
}
