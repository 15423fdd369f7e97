import { viewUsage } from '@model-gateway/billing';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

/** What one answer can hold; the CSV file has all. */
const GROUPS_MAX = 10_000;

export function createUsageMethods({ usage, summarizeSpend }: Services): HandlersOf<'usage'> {
  return {
    'usage.list': async ({ limit, offset, project }, { user }) => {
      const { records, total } = await usage.list({ userId: user.id, project, limit, offset });
      return { records: records.map(viewUsage), total, limit, offset, project: project ?? null };
    },
    'usage.summary': async (params, { user }) => {
      const summary = await summarizeSpend(params, user);
      return { ...summary, groups: summary.groups.slice(0, GROUPS_MAX) };
    },
  };
}
