import { OWN } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

/** The long-term memory methods; each user has access only to their own. */
export function createMemoryMethods({ runtime: { memory } }: Services): HandlersOf<'memory'> {
  return {
    'memory.status': async (_params, { user }) => {
      const { enabled, writeback, events } = await memory.status(user.id);
      return {
        enabled,
        writeback,
        events: events.map(({ at, kind, nodeIds, detail }) => ({
          at: at.toISOString(),
          kind,
          node_ids: [...nodeIds],
          detail,
        })),
      };
    },
    'memory.delete': {
      audit: OWN,
      handle: async ({ node_id }, { user }) => ({
        deleted: await memory.delete(user.id, node_id),
      }),
    },
  };
}
