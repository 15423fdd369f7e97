import type { AgentCounter, AgentCounts } from '@model-gateway/router';
import type { Connection } from '../connection/connection.ts';

const NONE: AgentCounts = { agentsOnline: 0, gpuNodes: 0, modelsDeployed: 0 };

/** Counts of agent nodes in Postgres. */
export function createPostgresAgentCounter(connection: Connection): AgentCounter {
  return {
    count: ({ heartbeatSince }) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<AgentCounts[]>`
          WITH online AS (
            SELECT id, jsonb_typeof(gpus) = 'array' AND gpus <> '[]'::jsonb AS has_gpu
            FROM agent_nodes
            WHERE connection_id IS NOT NULL AND last_heartbeat_at >= ${heartbeatSince}
          )
          SELECT
            (SELECT count(*)::int FROM online) AS "agentsOnline",
            (SELECT count(*)::int FROM online WHERE has_gpu) AS "gpuNodes",
            (
              SELECT count(DISTINCT m.model_id)::int
              FROM agent_models m JOIN online ON online.id = m.agent_id
              JOIN agent_deployments d ON d.agent_id = m.agent_id AND d.model_id = m.model_id
              WHERE m.status = 'ready'
            ) AS "modelsDeployed"`;
        return rows[0] ?? NONE;
      }),
  };
}
