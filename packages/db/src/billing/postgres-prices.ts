import type { Price, PriceStore } from '@model-gateway/billing';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';

const source = z.enum(['override', 'catalogue']);
/** One for every backend is stored without a name. */
const EVERY_BACKEND = '';

/** Prices that an operator set or imported, in Postgres. */
export function createPostgresPrices(connection: Connection): PriceStore {
  return {
    list: () =>
      connection.run(async (queries) => {
        const rows = await queries.priceOverride.findMany({
          omit: { updatedAt: true },
          orderBy: [{ backend: 'asc' }, { pattern: 'asc' }, { source: 'asc' }],
        });
        return rows.map((row) => ({
          ...row,
          backend: row.backend === EVERY_BACKEND ? null : row.backend,
          source: source.parse(row.source),
        }));
      }),

    set: ({ pattern, backend, ...rates }) =>
      connection.run(async (queries) => {
        const key = { source: 'override', backend: backend ?? EVERY_BACKEND, pattern };
        await queries.priceOverride.upsert({
          where: { source_backend_pattern: key },
          create: { ...key, ...rates },
          update: rates,
          select: { pattern: true },
        });
      }),

    remove: (pattern, backend) =>
      connection.run(async (queries) => {
        const { count } = await queries.priceOverride.deleteMany({
          where: { source: 'override', backend: backend ?? EVERY_BACKEND, pattern },
        });
        return count > 0;
      }),

    importAll: (prices, mode) =>
      connection.transaction(async (queries) => {
        const patterns = prices.map(({ pattern }) => pattern);
        const earlier = await queries.priceOverride.deleteMany({
          where: {
            source: 'catalogue',
            ...(mode === 'merge' && { pattern: { in: patterns } }),
          },
        });
        const data = prices.map(catalogueRow);
        const { count } = await queries.priceOverride.createMany({ data });
        return Math.max(0, earlier.count - count);
      }),
  };
}

const catalogueRow = (price: Price) => ({
  ...price,
  source: 'catalogue',
  backend: EVERY_BACKEND,
});
