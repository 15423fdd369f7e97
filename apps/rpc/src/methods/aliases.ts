import type { HandlersOf } from '../protocol/handlers.ts';
import { pageAfter } from '../protocol/page-after.ts';
import type { Services } from '../services.ts';

export function createAliasesMethods({
  runtime,
}: Pick<Services, 'runtime'>): HandlersOf<'aliases'> {
  const { aliases, fileEntries } = runtime.router;
  return {
    'aliases.list': async ({ after, limit }) => {
      const found = pageAfter(aliases.list(), ({ alias }) => alias, { after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const hasMore = found.length > limit;
      return {
        aliases: shown.map(({ alias, target }) => ({
          alias,
          target,
          ...fileEntries.markOf('aliases', alias),
        })),
        has_more: hasMore,
        after: hasMore ? (shown.at(-1)?.alias ?? null) : null,
      };
    },
    'aliases.set': async ({ alias, target }) => {
      await fileEntries.assertChangeable('aliases', alias);
      await aliases.set(alias, target);
      return { ok: true };
    },
    'aliases.remove': async ({ alias }) => {
      await fileEntries.assertChangeable('aliases', alias);
      await aliases.remove(alias);
      return { ok: true };
    },
  };
}
