import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createAliasesMethods({
  runtime,
}: Pick<Services, 'runtime'>): HandlersOf<'aliases'> {
  const { aliases, fileEntries } = runtime.router;
  return {
    'aliases.list': async () => ({
      aliases: aliases.list().map(({ alias, target }) => ({
        alias,
        target,
        ...fileEntries.markOf('aliases', alias),
      })),
    }),
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
