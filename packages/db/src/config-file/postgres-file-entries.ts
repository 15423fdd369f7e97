import { SECTIONS, type FileEntryStore } from '@model-gateway/config-file';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';

const sectionSchema = z.enum(SECTIONS);
const LOCK = 'configuration file';

/** What came from the configuration file, in Postgres. */
export function createPostgresFileEntries(connection: Connection): FileEntryStore {
  return {
    hold: () =>
      connection.run(async (queries) => {
        await queries.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))`;
      }),

    list: () =>
      connection.run(async (queries) => {
        const rows = await queries.fileEntry.findMany({
          orderBy: [{ section: 'asc' }, { name: 'asc' }],
        });
        return rows.flatMap(({ section, ...entry }) => {
          // A newer version may know more sections.
          const known = sectionSchema.safeParse(section);
          return known.success ? [{ section: known.data, ...entry }] : [];
        });
      }),

    has: (section, name) =>
      connection.run(
        async (queries) => (await queries.fileEntry.count({ where: { section, name } })) > 0,
      ),

    put: ({ section, name, hash, target }) =>
      connection.run(async (queries) => {
        await queries.fileEntry.upsert({
          where: { section_name: { section, name } },
          create: { section, name, hash, target },
          update: { hash, target },
          select: { name: true },
        });
      }),

    remove: (section, name) =>
      connection.run(async (queries) => {
        await queries.fileEntry.deleteMany({ where: { section, name } });
      }),
  };
}
