import type { ProviderChanges, ProviderStore } from '@model-gateway/accounts';
import type { Connection } from '../connection/connection.ts';

/** Custom providers in Postgres. */
export function createPostgresProviders(connection: Connection): ProviderStore {
  return {
    list: (countMax, after) =>
      connection.run((queries) =>
        queries.provider.findMany({
          omit: { createdAt: true, updatedAt: true },
          ...(after === undefined ? {} : { cursor: { id: after }, skip: 1 }),
          orderBy: [{ name: 'asc' }, { id: 'asc' }],
          take: countMax,
        }),
      ),

    add: ({ id, name, description, websiteDomain }) =>
      connection.run(async (queries) => {
        const { count } = await queries.provider.createMany({
          data: { id, name, description, websiteDomain },
          skipDuplicates: true,
        });
        return count > 0;
      }),

    update: (id, changes) =>
      connection.run(async (queries) => {
        const { count } = await queries.provider.updateMany({
          where: { id },
          data: given(changes),
        });
        return count > 0;
      }),

    remove: (id) =>
      connection.run(async (queries) => {
        const { count } = await queries.provider.deleteMany({ where: { id } });
        return count > 0;
      }),
  };
}

/** Only the fields to change. */
function given({ name, description, websiteDomain }: ProviderChanges) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(websiteDomain === undefined ? {} : { websiteDomain }),
  };
}
