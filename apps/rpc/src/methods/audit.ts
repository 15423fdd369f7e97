import { anchorOf, auditRecord, checkAuditChain } from '@model-gateway/accounts';
import { assertOrder } from '../protocol/assert-order.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

/** The log of changes, for admins. */
export function createAuditMethods({ audit }: Services): HandlersOf<'audit'> {
  return {
    'audit.list': async ({ actor_id, action, target, from, to, before, limit }) => {
      const since = from === undefined ? undefined : timeOf(from);
      const until = to === undefined ? undefined : timeOf(to);
      assertOrder(since, until);
      const found = await audit.list({
        actorId: actor_id,
        action,
        target,
        from: since,
        to: until,
        beforeSeq: before ?? undefined,
        countMax: limit + 1,
      });
      const entries = found.slice(0, limit);
      const hasMore = found.length > limit;
      const last = hasMore ? entries.at(-1) : undefined;
      return { entries: entries.map(auditRecord), has_more: hasMore, before: last?.seq ?? null };
    },
    'audit.verify': async ({ after, hash, limit }) => {
      const anchor = anchorOf(after, hash);
      const { checked, last, hasMore, broken } = await checkAuditChain(audit, {
        anchor,
        countMax: limit,
      });
      return {
        ok: broken === undefined,
        checked,
        after: last?.seq ?? null,
        hash: last?.hash ?? null,
        has_more: hasMore,
        broken: broken ?? null,
      };
    },
  };
}

/** No entry is older than 1970, and Postgres has no year 0. */
const timeOf = (text: string): Date => new Date(Math.max(Date.parse(text), 0));
