import {
  agentBackendName,
  READY,
  type AgentHeartbeat,
  type AgentConnections,
  type NodeConnection,
  type SilentNode,
  type ReachableModel,
} from '@model-gateway/router';
import {
  addDeployment,
  deployedOn,
  endDeploys,
  modelsOf,
  removeDeployment,
} from './agent-deploys.ts';
import { gpuColumn } from './agent-rows.ts';
import type { Connection, Queries } from '../connection/connection.ts';
import { placeBackends } from './place-backends.ts';

/** Processes that were killed while they had no node leave their row behind. */
const FORGOTTEN_AFTER = '1 day';

/** The connections of the nodes in Postgres. */
export function createPostgresAgentConnections(connection: Connection): AgentConnections {
  return {
    authenticate: (tokenHash) =>
      connection.run(async (queries) => {
        const row = await queries.agentNode.findUnique({
          where: { tokenHash },
          select: { id: true, hosts: true },
        });
        return row === null ? undefined : { agentId: row.id, hosts: row.hosts };
      }),

    claim: ({ agentId, modelIds, gpus, at, ...node }, { onlineSince }) =>
      connection.transaction(async (queries) => {
        const [before] = await queries.$queryRaw<{ connectionId: string | null }[]>`
          SELECT connection_id AS "connectionId" FROM agent_nodes
          WHERE id = ${agentId}::uuid FOR NO KEY UPDATE`;
        if (before === undefined) return undefined;
        await queries.agentNode.update({
          where: { id: agentId },
          data: {
            ...node,
            processId: node.processId ?? null,
            gpus: gpuColumn(gpus),
            connectedAt: at,
            lastHeartbeatAt: at,
          },
          select: { id: true },
        });
        const deploys = await endDeploys(queries, agentId);
        const lost = await removeOthers(queries, agentId, modelIds);
        const backends = await placeBackends(queries, lost, onlineSince);
        const deployed = await deployedOn(queries, agentId);
        return { previous: before.connectionId, deployed, deploys, backends };
      }),

    recordHeartbeats: (heartbeats) =>
      connection.run(async (queries) => {
        const node = await queries.$queryRaw<{ connectionId: string }[]>`
          UPDATE agent_nodes n
          SET last_heartbeat_at = g.at, gpus = g.gpus, gpu_utilization = g.gpu_utilization
          FROM jsonb_to_recordset(${JSON.stringify(heartbeats.map(heartbeatRow))}::jsonb)
            AS g (id uuid, connection_id uuid, at timestamptz, gpus jsonb, gpu_utilization float8)
          WHERE n.id = g.id AND n.connection_id = g.connection_id
          RETURNING n.connection_id AS "connectionId"`;
        return new Set(node.map(({ connectionId }) => connectionId));
      }),

    disconnect: ({ agentId, connectionId }, { onlineSince }) =>
      connection.transaction(async (queries) => {
        const left = await queries.$executeRaw`
          UPDATE agent_nodes SET connection_id = NULL
          WHERE id = ${agentId}::uuid AND connection_id = ${connectionId}::uuid`;
        if (left === 0) return undefined;
        const deploys = await endDeploys(queries, agentId);
        const models = await modelsOf(queries, agentId);
        return { deploys, backends: await placeBackends(queries, models, onlineSince) };
      }),

    saveModels: (node, models, { onlineSince, deployed, stopped }) =>
      connection.transaction(async (queries) => {
        if (!(await isConnected(queries, node))) return undefined;
        const { agentId } = node;
        const modelIds = models.map(({ modelId }) => modelId);
        const removedIds = await removeOthers(queries, agentId, modelIds);
        await writeModels(queries, agentId, models);
        if (deployed !== undefined) await addDeployment(queries, agentId, deployed);
        if (stopped !== undefined) await removeDeployment(queries, agentId, stopped);
        const changed = stopped === undefined ? modelIds : [...modelIds, stopped];
        const backends = await placeBackends(queries, [...removedIds, ...changed], onlineSince);
        return { backends, deployed: await deployedOn(queries, agentId) };
      }),

    beginDeploy: ({ agentId, connectionId }, modelId, streamId) =>
      connection.run(async (queries) => {
        const named = await queries.backendConfig.findUnique({
          where: { name: agentBackendName(modelId) },
          select: { agentId: true },
        });
        if (named?.agentId === null) return 'name_taken';
        const begun = await queries.$executeRaw`
          INSERT INTO agent_models AS m (agent_id, model_id, status, streams)
          SELECT id, ${modelId}, 'pulling', ARRAY[${streamId}] FROM agent_nodes
          WHERE id = ${agentId}::uuid AND connection_id = ${connectionId}::uuid
          ON CONFLICT (agent_id, model_id) DO UPDATE
            SET streams = m.streams || excluded.streams, updated_at = now(),
              status = CASE WHEN m.status = ${READY} THEN m.status ELSE excluded.status END`;
        return begun === 1 ? 'begun' : 'offline';
      }),

    endDeploy: (agentId, modelId) =>
      connection.transaction(async (queries) => {
        const [ended] = await queries.$queryRaw<{ streams: string[] }[]>`
          SELECT streams FROM agent_models
          WHERE agent_id = ${agentId}::uuid AND model_id = ${modelId} FOR UPDATE`;
        if (ended === undefined) return [];
        await queries.$executeRaw`
          UPDATE agent_models SET streams = '{}', updated_at = now()
          WHERE agent_id = ${agentId}::uuid AND model_id = ${modelId}`;
        // A model that did not become ready is removed, unless the node reports it again.
        await queries.$executeRaw`
          DELETE FROM agent_models
          WHERE agent_id = ${agentId}::uuid AND model_id = ${modelId} AND status <> ${READY}`;
        return ended.streams;
      }),

    findStale: (since) =>
      connection.run(
        (queries) => queries.$queryRaw<NodeConnection[]>`
          SELECT id AS "agentId", connection_id AS "connectionId" FROM agent_nodes
          WHERE connection_id IS NOT NULL
            AND (last_heartbeat_at IS NULL OR last_heartbeat_at < ${since})`,
      ),

    renewProcess: (processId) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          INSERT INTO tunnel_processes (id, seen_at) VALUES (${processId}::uuid, now())
          ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`;
      }),

    removeProcess: (processId) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          DELETE FROM tunnel_processes
          WHERE id = ${processId}::uuid OR seen_at < now() - ${FORGOTTEN_AFTER}::interval`;
      }),

    findSilent: (silentMs) =>
      connection.run(
        (queries) => queries.$queryRaw<SilentNode[]>`
          SELECT n.id AS "agentId", n.connection_id AS "connectionId", n.process_id AS "processId"
          FROM agent_nodes n LEFT JOIN tunnel_processes p ON p.id = n.process_id
          WHERE n.connection_id IS NOT NULL AND n.process_id IS NOT NULL
            AND (p.seen_at IS NULL OR p.seen_at < now() - make_interval(secs => ${silentMs / 1_000}))`,
      ),

    findConnected: () =>
      connection.run(
        (queries) => queries.$queryRaw<NodeConnection[]>`
          SELECT id AS "agentId", connection_id AS "connectionId" FROM agent_nodes
          WHERE connection_id IS NOT NULL`,
      ),
  };
}

/** Locks the node until the transaction ends. */
async function isConnected(
  queries: Queries,
  { agentId, connectionId }: NodeConnection,
): Promise<boolean> {
  const locked = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM agent_nodes
    WHERE id = ${agentId}::uuid AND connection_id = ${connectionId}::uuid FOR NO KEY UPDATE`;
  return locked.length > 0;
}

/** Removes the models of a node that are neither in the list nor being deployed; returns the removed ids. */
async function removeOthers(
  queries: Queries,
  agentId: string,
  modelIds: readonly string[],
): Promise<readonly string[]> {
  const removed = await queries.$queryRaw<{ modelId: string }[]>`
    DELETE FROM agent_models
    WHERE agent_id = ${agentId}::uuid AND streams = '{}'
      AND model_id <> ALL (${modelIds}::text[])
    RETURNING model_id AS "modelId"`;
  return removed.map(({ modelId }) => modelId);
}

async function writeModels(
  queries: Queries,
  agentId: string,
  models: readonly ReachableModel[],
): Promise<void> {
  const rows = models.map(({ modelId, status, port, url }) => ({
    model_id: modelId,
    status,
    port,
    url,
  }));
  await queries.$executeRaw`
    INSERT INTO agent_models (agent_id, model_id, status, port, url)
    SELECT ${agentId}::uuid, g.model_id, g.status, g.port, g.url
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS g (model_id text, status text, port int, url text)
    ON CONFLICT (agent_id, model_id) DO UPDATE
      SET status = excluded.status, port = excluded.port, url = excluded.url, updated_at = now()`;
}

const heartbeatRow = ({ agentId, connectionId, at, gpus, gpuUtilization }: AgentHeartbeat) => ({
  id: agentId,
  connection_id: connectionId,
  at: at.toISOString(),
  gpus: gpuColumn(gpus),
  gpu_utilization: gpuUtilization,
});
