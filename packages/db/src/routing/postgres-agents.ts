import type { AgentStore } from '@model-gateway/router';
import { agentOf, WITH_MODELS } from './agent-rows.ts';
import { endDeploys, modelsOf } from './agent-deploys.ts';
import type { Connection } from '../connection/connection.ts';
import { placeBackends } from './place-backends.ts';

const LISTED_MAX = 10_000;

/** The registered nodes in Postgres. */
export function createPostgresAgents(connection: Connection): AgentStore {
  return {
    register: ({ name, version, tokenHash, hosts }) =>
      connection.run((queries) =>
        queries.agentNode.create({
          data: { name, version, tokenHash, hosts: [...hosts] },
          select: { id: true },
        }),
      ),

    list: ({ after, countMax } = { countMax: LISTED_MAX }) =>
      connection.run(async (queries) => {
        const rows = await queries.agentNode.findMany({
          include: WITH_MODELS,
          orderBy: [{ name: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }],
          take: countMax,
          ...(after === undefined ? {} : { cursor: { id: after }, skip: 1 }),
        });
        return rows.map(agentOf);
      }),

    find: (agentId) =>
      connection.run(async (queries) => {
        const row = await queries.agentNode.findUnique({
          where: { id: agentId },
          include: WITH_MODELS,
        });
        return row === null ? undefined : agentOf(row);
      }),

    declareCapabilities: (modelId, capabilities) =>
      connection.run(async (queries) => {
        const declared = { capabilities: [...capabilities] };
        await queries.agentModelSettings.upsert({
          where: { modelId },
          create: { modelId, ...declared },
          update: declared,
        });
      }),

    remove: (agentId, { onlineSince }) =>
      connection.transaction(async (queries) => {
        const [node] = await queries.$queryRaw<{ connectionId: string | null }[]>`
          SELECT connection_id AS "connectionId" FROM agent_nodes
          WHERE id = ${agentId}::uuid FOR UPDATE`;
        if (node === undefined) return undefined;
        const deploys = await endDeploys(queries, agentId);
        const models = await modelsOf(queries, agentId);
        // Its backends stay until their models are placed again, so that a moved one keeps its position.
        await queries.$executeRaw`
          UPDATE agent_nodes SET connection_id = NULL WHERE id = ${agentId}::uuid`;
        const backends = await placeBackends(queries, models, onlineSince);
        await queries.agentNode.delete({ where: { id: agentId }, select: { id: true } });
        return { connectionId: node.connectionId, deploys, backends };
      }),
  };
}
