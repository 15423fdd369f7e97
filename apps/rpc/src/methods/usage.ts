import { viewUsage } from '@model-gateway/billing';
import { ServiceError, type RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';
import type { SummaryParams } from '../spend/spend-summary.ts';

type Groups = RpcResult<'usage.summary'>['groups'];

/** How many groups one answer has; the CSV file has all. */
const GROUPS_MAX = 10_000;

export function createUsageMethods({
  usage,
  rejectedUsage,
  spend,
  summarizeSpend,
}: Services): HandlersOf<'usage'> {
  /** Adds the names of keys, groups and users that the caller has no other way to look up. */
  async function named(groups: Groups, { scope, group_by: by }: SummaryParams): Promise<Groups> {
    if (scope === 'self' || (by !== 'key' && by !== 'group' && by !== 'user')) return groups;
    const names = await spend.names(
      by,
      groups.flatMap(({ key }) => key ?? []),
    );
    return groups.map(({ key, ...sums }) => {
      const name = names.get(key ?? '');
      return { key, ...(name === undefined ? {} : { name }), ...sums };
    });
  }

  return {
    'usage.list': async ({ limit, offset, project }, { user }) => {
      const { records, total } = await usage.list({ userId: user.id, project, limit, offset });
      return { records: records.map(viewUsage), total, limit, offset, project: project ?? null };
    },
    'usage.summary': async (params, { user }) => {
      const summary = await summarizeSpend(params, user);
      const groups = summary.groups.slice(0, GROUPS_MAX);
      return { ...summary, groups: await named(groups, params) };
    },
    'usage.halts.list': async () => {
      const halting = await rejectedUsage.halting();
      return {
        events: halting.map(({ id, error, attempts, firstRejectedAt, lastRejectedAt }) => ({
          event_id: id,
          error,
          attempts,
          since: firstRejectedAt.toISOString(),
          last_tried_at: lastRejectedAt.toISOString(),
        })),
      };
    },
    'usage.halts.skip': {
      audit: { target: ({ params }) => `usage:${params.event_id}` },
      handle: async ({ event_id: id }) => {
        if (!(await rejectedUsage.skip(id)))
          throw new ServiceError('not_found', 'no recorder waits at this usage event');
        return { ok: true };
      },
    },
  };
}
