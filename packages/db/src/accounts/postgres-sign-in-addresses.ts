import type { SignInAddressStore } from '@model-gateway/accounts';
import type { Connection } from '../connection/connection.ts';

/** Sign-in addresses in Postgres. */
export function createPostgresSignInAddresses(connection: Connection): SignInAddressStore {
  return {
    save: (userId, addressHash, at, keptMax) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          INSERT INTO sign_in_addresses (user_id, address_hash, signed_in_at)
          VALUES (${userId}::uuid, ${addressHash}, ${at})
          ON CONFLICT (user_id, address_hash) DO UPDATE
          SET signed_in_at = GREATEST(sign_in_addresses.signed_in_at, EXCLUDED.signed_in_at)`;
        await queries.$executeRaw`
          DELETE FROM sign_in_addresses WHERE user_id = ${userId}::uuid AND address_hash IN (
            SELECT address_hash FROM sign_in_addresses
            WHERE user_id = ${userId}::uuid
            ORDER BY signed_in_at DESC
            OFFSET ${keptMax}
            FOR UPDATE SKIP LOCKED
          )`;
      }),

    has: (email, addressHash, since) =>
      connection.run(async (queries) => {
        const found = await queries.signInAddress.findFirst({
          where: { addressHash, signedInAt: { gte: since }, user: { email } },
          select: { userId: true },
        });
        return found !== null;
      }),

    removeBefore: (before, countMax) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          DELETE FROM sign_in_addresses WHERE (user_id, address_hash) IN (
            SELECT user_id, address_hash FROM sign_in_addresses
            WHERE signed_in_at < ${before}
            ORDER BY signed_in_at
            LIMIT ${countMax}
            FOR UPDATE SKIP LOCKED
          )`;
      }),
  };
}
