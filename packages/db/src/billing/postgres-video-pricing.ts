import type { VideoPricing, VideoPricingStore } from '@model-gateway/billing';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';
import type { VideoPricing as VideoPricingRow } from '../generated/client.ts';

const modeSchema = z.enum(['per_call', 'per_second_resolution', 'per_frame']);
const coefficientsSchema = z.record(z.string(), z.number());

/** Video prices in Postgres. */
export function createPostgresVideoPricing(connection: Connection): VideoPricingStore {
  return {
    list: () =>
      connection.run(async (queries) => {
        const rows = await queries.videoPricing.findMany({ orderBy: { model: 'asc' } });
        return rows.map(toPricing);
      }),

    find: (model) =>
      connection.run(async (queries) => {
        const row = await queries.videoPricing.findUnique({ where: { model } });
        return row === null ? undefined : toPricing(row);
      }),

    save: ({ model, resolutionCoeff, ...prices }) =>
      connection.run(async (queries) => {
        const values = { ...prices, resolutionCoeff: { ...resolutionCoeff } };
        await queries.videoPricing.upsert({
          where: { model },
          create: { model, ...values },
          update: values,
          select: { model: true },
        });
      }),
  };
}

const toPricing = ({ updatedAt: _updatedAt, ...row }: VideoPricingRow): VideoPricing => ({
  ...row,
  mode: modeSchema.parse(row.mode),
  resolutionCoeff: coefficientsSchema.parse(row.resolutionCoeff),
});
