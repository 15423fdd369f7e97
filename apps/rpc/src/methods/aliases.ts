import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createAliasesMethods({
  runtime,
}: Pick<Services, 'runtime'>): HandlersOf<'aliases'> {
  const { aliases } = runtime.router;
  return {
    'aliases.list': async () => ({
      aliases: aliases.list().map(({ alias, target }) => ({ alias, target })),
    }),
    'aliases.set': async ({ alias, target }) => {
      await aliases.set(alias, target);
      return { ok: true };
    },
    'aliases.remove': async ({ alias }) => {
      await aliases.remove(alias);
      return { ok: true };
    },
  };
}
