import type { ModelRuleStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { lockGroup } from './postgres-groups.ts';

/** The model rules of groups in Postgres, one row per model. */
export function createPostgresModelRules(connection: Connection): ModelRuleStore {
  return {
    list: (groupId) =>
      connection.run(async (queries) => {
        const rows = await queries.groupModelRule.findMany({
          where: { groupId },
          select: { model: true, rule: true },
        });
        const modelsWith = (rule: string): readonly string[] =>
          // Sorted here, because the order of the database depends on its collation.
          rows
            .filter((row) => row.rule === rule)
            .map((row) => row.model)
            .toSorted();
        return { allowed: modelsWith('allow'), denied: modelsWith('deny') };
      }),

    set: (groupId, rule, models, countMax) =>
      connection.transaction(async (queries) => {
        if (!(await lockGroup(queries, groupId))) return false;
        // Without duplicates and in a fixed order: a row cannot be written twice, and writers must not deadlock.
        const distinct = [...new Set(models)].toSorted();
        await queries.$executeRaw`
          INSERT INTO group_model_rules (group_id, model, rule)
          SELECT ${groupId}::uuid, model, ${rule} FROM unnest(${distinct}::text[]) AS given (model)
          ON CONFLICT (group_id, model) DO UPDATE SET rule = EXCLUDED.rule`;
        if (countMax !== undefined && (await countRules(queries, groupId)) > countMax)
          throw new ServiceError(
            'rate_limit_exceeded',
            `too many model rules: at most ${countMax} per group`,
          );
        return true;
      }),
  };
}

const countRules = (queries: Queries, groupId: string): Promise<number> =>
  queries.groupModelRule.count({ where: { groupId } });
