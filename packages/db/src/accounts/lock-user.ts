import { ServiceError } from '@model-gateway/contracts';
import type { Queries } from '../connection/connection.ts';

/**
 * Locks the user until the end of the transaction, so that transactions which count what the user has run one after another.
 * Rejects for a user who is not active, such as one who was erased a moment ago.
 */
export async function lockUser(queries: Queries, userId: string): Promise<void> {
  const active = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM users WHERE id = ${userId}::uuid AND is_active FOR NO KEY UPDATE`;
  if (active.length === 0) throw new ServiceError('not_found', 'user not found');
}
