import type { RpcResult } from '@model-gateway/contracts';
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
    'agents.register': async ({ machine_name, version, hosts = [] }) => {
      const { agentId, token } = await agents.register({ name: machine_name, version, hosts });
      return { agent_id: agentId, token };
    },
    'agents.deregister': async ({ agent_id }) => {
      await agents.deregister(agent_id);
      return { ok: true };
    },
    'agents.status': async ({ agent_id }) => {
      const agent = await agents.get(agent_id);
      return { ...agentRecord(agent), online: agent.isOnline };
    },
    'agents.deploy': async ({ model_id, agent_id, capabilities }, { user }) => {
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
    'agents.stop': async ({ agent_id, model_id }) => {
      await agents.stop(agent_id, model_id);
      return { ok: true, stream_id: null };
    },
  };
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
