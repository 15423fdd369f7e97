import type { AuditedCall } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import { pageAfter } from '../protocol/page-after.ts';
import type { Services } from '../services.ts';

type AliasCall = AuditedCall<'aliases.set' | 'aliases.remove'>;

export function createAliasesMethods({
  runtime,
}: Pick<Services, 'runtime'>): HandlersOf<'aliases'> {
  const { aliases, fileEntries } = runtime.router;
  const audit = {
    target: ({ params }: AliasCall) => `alias:${params.alias}`,
    state({ params }: AliasCall) {
      const known = aliases.list().find(({ alias }) => alias === params.alias);
      return known && { target: known.target };
    },
  };
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
    'aliases.set': {
      audit,
      entry: 'after',
      handle: async ({ alias, target }) => {
        await fileEntries.assertChangeable('aliases', alias);
        await aliases.set(alias, target);
        return { ok: true };
      },
    },
    'aliases.remove': {
      audit,
      entry: 'after',
      handle: async ({ alias }) => {
        await fileEntries.assertChangeable('aliases', alias);
        await aliases.remove(alias);
        return { ok: true };
      },
    },
  };
}
