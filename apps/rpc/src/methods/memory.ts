import type { Memory } from '@model-gateway/inference';
import type { Handlers } from '../protocol/handlers.ts';

type MemoryMethods = 'memory.status' | 'memory.delete';

/** The long-term memory methods; each user has access only to their own. */
export function createMemoryMethods(memory: Memory): Pick<Handlers, MemoryMethods> {
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
    'memory.delete': async ({ node_id }, { user }) => ({
      deleted: await memory.delete(user.id, node_id),
    }),
  };
}
