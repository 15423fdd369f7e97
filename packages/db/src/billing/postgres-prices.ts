import type { PriceStore } from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';

/** Prices that override the built-in ones, in Postgres. */
export function createPostgresPrices(connection: Connection): PriceStore {
  return {
    list: () =>
      connection.run((queries) =>
        queries.priceOverride.findMany({
          omit: { updatedAt: true },
          orderBy: { pattern: 'asc' },
        }),
      ),

    set: ({ pattern, inputPerMillion, outputPerMillion }) =>
      connection.run(async (queries) => {
        const prices = { inputPerMillion, outputPerMillion };
        await queries.priceOverride.upsert({
          where: { pattern },
          create: { pattern, ...prices },
          update: prices,
          select: { pattern: true },
        });
      }),

    remove: (pattern) =>
      connection.run(async (queries) => {
        const { count } = await queries.priceOverride.deleteMany({ where: { pattern } });
        return count > 0;
      }),
  };
}
