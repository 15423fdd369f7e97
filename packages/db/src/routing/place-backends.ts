import { agentBackend, agentBackendName, READY, type PlacedBackend } from '@model-gateway/router';
import type { Queries } from '../connection/connection.ts';

interface Placement {
  readonly modelId: string;
  readonly url: string | null;
  readonly capabilities: readonly string[] | null;
}

/**
 * Points the backends of these models at the node where the model was deployed last, if it is online, inside the transaction
 * that changed the nodes. Returns the changed backends. A backend of the same name that an operator registered stays as it is.
 */
export async function placeBackends(
  queries: Queries,
  modelIds: readonly string[],
  onlineSince: Date,
): Promise<readonly PlacedBackend[]> {
  const models = [...new Set(modelIds)].toSorted();
  if (models.length === 0) return [];
  // Two nodes with one model must not place it at the same time. All callers lock in the same order.
  await queries.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended('agent-backend:' || model, 0))
    FROM unnest(${models}::text[]) AS model`;
  await endEarlierDeployments(queries, models);
  const changed = await queries.$queryRaw<Placement[]>`
    WITH serving AS (
      SELECT DISTINCT ON (m.model_id) m.model_id, m.agent_id, m.url, s.capabilities
      FROM agent_models m JOIN agent_nodes n ON n.id = m.agent_id
      JOIN agent_deployments d ON d.agent_id = m.agent_id AND d.model_id = m.model_id
      LEFT JOIN agent_model_settings s ON s.model_id = m.model_id
      WHERE m.model_id = ANY(${models}::text[]) AND m.status = ${READY} AND m.url IS NOT NULL
        AND n.connection_id IS NOT NULL AND n.last_heartbeat_at >= ${onlineSince}
      ORDER BY m.model_id, d.deployed_at DESC, m.agent_id
    ),
    named AS (
      SELECT model_id, ${agentBackendName('')} || model_id AS name
      FROM unnest(${models}::text[]) AS model_id
    ),
    removed AS (
      DELETE FROM backend_configs b USING named
      WHERE b.name = named.name AND b.agent_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM serving WHERE serving.model_id = named.model_id)
      RETURNING named.model_id
    ),
    placed AS (
      INSERT INTO backend_configs AS b (name, type, url, models, agent_id, capabilities)
      SELECT named.name, 'agent', serving.url, ARRAY[named.model_id], serving.agent_id,
        to_jsonb(serving.capabilities)
      FROM serving JOIN named ON named.model_id = serving.model_id
      ON CONFLICT (name) DO UPDATE
        SET type = excluded.type, url = excluded.url, models = excluded.models,
          agent_id = excluded.agent_id, api_key = NULL, capabilities = excluded.capabilities,
          dialects = '{}', updated_at = now()
        WHERE b.agent_id IS NOT NULL
          AND (b.type, b.url, b.agent_id, b.capabilities)
            IS DISTINCT FROM (excluded.type, excluded.url, excluded.agent_id, excluded.capabilities)
      RETURNING b.models[1] AS model_id, b.url, b.capabilities
    )
    SELECT model_id AS "modelId", NULL AS url, NULL AS capabilities FROM removed
    UNION ALL SELECT model_id, url, capabilities FROM placed`;
  return changed.map(({ modelId, url, capabilities }) => ({
    name: agentBackendName(modelId),
    config: url === null ? null : agentBackend(modelId, url, capabilities),
  }));
}

/**
 * A deployment moves a model: nodes where it was deployed before do not serve it any more. A row that another transaction has
 * locked is left to that one, which places the model after this one.
 */
async function endEarlierDeployments(queries: Queries, models: readonly string[]): Promise<void> {
  await queries.$executeRaw`
    DELETE FROM agent_deployments WHERE (agent_id, model_id) IN (
      SELECT d.agent_id, d.model_id FROM agent_deployments d
      WHERE d.model_id = ANY(${models}::text[]) AND EXISTS (
        SELECT FROM agent_deployments later WHERE later.model_id = d.model_id
          AND (later.deployed_at, later.agent_id) > (d.deployed_at, d.agent_id)
      )
      FOR UPDATE OF d SKIP LOCKED
    )`;
}
