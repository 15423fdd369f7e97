import type { PriceStore } from '@model-gateway/billing';
import { ENTRY_NAMES } from '@model-gateway/config-file';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';

const source = z.enum(['override', 'catalogue']);
/** Held by each import, so that an import that replaces prices sees those of the import before it. */
const IMPORT_LOCK = 4_711_003n;
/** A price for every backend is stored with an empty name. */
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
        // A price of the configuration file is stored as if a call had set it.
        const entries = await queries.fileEntry.findMany({
          where: { section: 'prices' },
          select: { name: true },
        });
        const names = new Set(entries.map(({ name }) => name));
        return rows.map((row) => {
          const backend = row.backend === EVERY_BACKEND ? null : row.backend;
          const name = ENTRY_NAMES.prices({ pattern: row.pattern, backend: backend ?? undefined });
          const stored = source.parse(row.source);
          const isOfFile = stored === 'override' && names.has(name);
          return { ...row, backend, source: isOfFile ? ('file' as const) : stored };
        });
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
        await queries.$executeRaw`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`;
        // A catalogue has thousands of prices, and a parameter for each value of each takes seconds.
        const rows = JSON.stringify(prices);
        const removed =
          mode === 'merge'
            ? 0
            : await queries.$executeRaw`
                DELETE FROM price_overrides
                WHERE source = 'catalogue' AND pattern NOT IN (
                  SELECT pattern FROM jsonb_to_recordset(${rows}::jsonb) AS price (pattern text))`;
        await queries.$executeRaw`
          INSERT INTO price_overrides (source, backend, pattern, input_per_million,
            output_per_million, cached_input_per_million, cache_write_per_million,
            audio_input_per_million, audio_output_per_million, cached_audio_input_per_million, image_output_per_million, per_image,
            per_minute_audio, per_request, updated_at)
          SELECT 'catalogue', ${EVERY_BACKEND}, pattern, "inputPerMillion", "outputPerMillion",
            "cachedInputPerMillion", "cacheWritePerMillion",
            "audioInputPerMillion", "audioOutputPerMillion", "cachedAudioInputPerMillion", "imageOutputPerMillion", "perImage", "perMinuteAudio",
            "perRequest", now()
          FROM jsonb_to_recordset(${rows}::jsonb) AS price (pattern text,
            "inputPerMillion" float8, "outputPerMillion" float8, "cachedInputPerMillion" float8,
            "cacheWritePerMillion" float8, "audioInputPerMillion" float8, "audioOutputPerMillion" float8,
            "cachedAudioInputPerMillion" float8, "imageOutputPerMillion" float8, "perImage" float8, "perMinuteAudio" float8,
            "perRequest" float8)
          ON CONFLICT (source, backend, pattern) DO UPDATE SET
            input_per_million = excluded.input_per_million,
            output_per_million = excluded.output_per_million,
            cached_input_per_million = excluded.cached_input_per_million,
            cache_write_per_million = excluded.cache_write_per_million,
            audio_input_per_million = excluded.audio_input_per_million,
            audio_output_per_million = excluded.audio_output_per_million,
            cached_audio_input_per_million = excluded.cached_audio_input_per_million,
            image_output_per_million = excluded.image_output_per_million,
            per_image = excluded.per_image, per_minute_audio = excluded.per_minute_audio,
            per_request = excluded.per_request, updated_at = excluded.updated_at`;
        return removed;
      }),
  };
}
