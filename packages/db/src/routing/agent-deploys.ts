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

/** The ids of the models that admins deployed on a node and did not stop. */
export async function deployedOn(queries: Queries, agentId: string): Promise<readonly string[]> {
  const rows = await queries.agentDeployment.findMany({
    where: { agentId },
    select: { modelId: true },
  });
  return rows.map(({ modelId }) => modelId);
}

/** Lets a node serve a model. The nodes where it was deployed before lose it when it is placed. */
export async function addDeployment(
  queries: Queries,
  agentId: string,
  modelId: string,
): Promise<void> {
  await queries.$executeRaw`
    INSERT INTO agent_deployments (agent_id, model_id) VALUES (${agentId}::uuid, ${modelId})
    ON CONFLICT (agent_id, model_id) DO UPDATE SET deployed_at = now()`;
}

export async function removeDeployment(
  queries: Queries,
  agentId: string,
  modelId: string,
): Promise<void> {
  await queries.agentDeployment.deleteMany({ where: { agentId, modelId } });
}
