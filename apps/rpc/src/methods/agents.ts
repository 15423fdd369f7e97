import type { RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import { randomToken } from '@model-gateway/kernel';
import type { AgentState } from '@model-gateway/router';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createAgentsMethods({ agents, sessions }: Services): HandlersOf<'agents'> {
  return {
    'agents.list': async ({ after, limit }) => {
      const page = { after: after ?? undefined, countMax: limit };
      return (await agents.list(page)).map(agentRecord);
    },
    'agents.register': {
      audit: {
        target: ({ result }) => result && `agent:${result.agent_id}`,
        state: ({ result }, stores) => agentState(result?.agent_id, stores),
      },
      entry: 'after',
      handle: async ({ machine_name, version, hosts = [] }) => {
        const { agentId, token } = await agents.register({ name: machine_name, version, hosts });
        return { agent_id: agentId, token };
      },
    },
    'agents.deregister': {
      audit: {
        target: ({ params }) => `agent:${params.agent_id}`,
        state: ({ params }, stores) => agentState(params.agent_id, stores),
      },
      entry: 'after',
      handle: async ({ agent_id }) => {
        await agents.deregister(agent_id);
        return { ok: true };
      },
    },
    'agents.status': async ({ agent_id }) => {
      const agent = await agents.get(agent_id);
      return { ...agentRecord(agent), online: agent.isOnline };
    },
    'agents.deploy': {
      audit: {
        target: ({ params }) => `model:${params.model_id}`,
        state: async ({ params, result }, stores) => ({
          ...(await deployedState(params.model_id, stores)),
          ...(result && { declared_capabilities: params.capabilities }),
        }),
      },
      entry: 'after',
      handle: async ({ model_id, agent_id, capabilities }, { user }) => {
        const streamId = randomToken();
        await sessions.setOwner(streamId, user.id);
        await agents.deploy({
          modelId: model_id,
          agentId: agent_id === '' ? undefined : agent_id,
          streamId,
          capabilities,
        });
        return { ok: true, stream_id: streamId };
      },
    },
    'agents.stop': {
      audit: {
        target: ({ params }) => `agent:${params.agent_id}`,
        state: ({ params }, stores) => modelOnNodeState(params.agent_id, params.model_id, stores),
      },
      entry: 'after',
      handle: async ({ agent_id, model_id }) => {
        await agents.stop(agent_id, model_id);
        return { ok: true, stream_id: null };
      },
    },
  };
}

async function agentState(agentId: string | undefined, stores: DatabaseStores) {
  const agent = agentId === undefined ? undefined : await stores.agents.find(agentId);
  return agent && { name: agent.name, version: agent.version, hosts: agent.hosts };
}

/** The nodes that have a model or are getting it. */
async function deployedState(modelId: string, stores: DatabaseStores) {
  const nodes = (await stores.agents.list()).flatMap(({ id, models }) =>
    models
      .filter((model) => model.modelId === modelId)
      .map(({ status }) => ({ agent_id: id, status })),
  );
  return { nodes };
}

async function modelOnNodeState(agentId: string, modelId: string, stores: DatabaseStores) {
  const node = await stores.agents.find(agentId);
  const model = node?.models.find((known) => known.modelId === modelId);
  return { model_id: modelId, status: model?.status ?? null };
}

function agentRecord(agent: AgentState): RpcResult<'agents.list'>[number] {
  return {
    id: agent.id,
    name: agent.name,
    host: agent.host,
    hosts: [...agent.hosts],
    version: agent.version,
    status: agent.isOnline ? 'online' : 'offline',
    gpus: agent.gpus.map(({ name, memoryTotalMb, memoryUsedMb, utilization }) => ({
      name,
      memory_total_mb: memoryTotalMb,
      memory_used_mb: memoryUsedMb,
      utilization,
    })),
    gpu_utilization: agent.gpuUtilization,
    models: agent.models.map(({ modelId, status, port }) => ({ model_id: modelId, status, port })),
    created_at: agent.createdAt.toISOString(),
    connected_at: agent.connectedAt?.toISOString() ?? null,
    last_heartbeat_at: agent.lastHeartbeatAt?.toISOString() ?? null,
  };
}
