import type { BrokenDeploy } from '@model-gateway/router';
import type { Queries } from '../connection/connection.ts';

/** Ends every deployment of a node; the caller must publish the end on the returned streams. */
export async function endDeploys(
  queries: Queries,
  agentId: string,
): Promise<readonly BrokenDeploy[]> {
  const ended = await queries.$queryRaw<{ modelId: string; streams: string[] }[]>`
    WITH running AS (
      SELECT model_id, streams FROM agent_models
      WHERE agent_id = ${agentId}::uuid AND streams <> '{}'
      FOR UPDATE
    )
    UPDATE agent_models m SET streams = '{}', updated_at = now()
    FROM running WHERE m.agent_id = ${agentId}::uuid AND m.model_id = running.model_id
    RETURNING running.model_id AS "modelId", running.streams`;
  return ended.map(({ modelId, streams }) => ({ agentId, modelId, streams }));
}

/** The ids of the models that a node has or is getting. */
export async function modelsOf(queries: Queries, agentId: string): Promise<readonly string[]> {
  const rows = await queries.agentModel.findMany({
    where: { agentId },
    select: { modelId: true },
  });
  return rows.map(({ modelId }) => modelId);
}
