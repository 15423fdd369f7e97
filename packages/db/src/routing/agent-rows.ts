import { IGNORED, type AgentGpu, type AgentNode } from '@model-gateway/router';
import { z } from 'zod';
import type { Prisma } from '../generated/client.ts';

/** A node with its models, as Prisma reads it. */
type AgentRow = Prisma.AgentNodeGetPayload<{ include: typeof WITH_MODELS }>;

export const WITH_MODELS = {
  models: { orderBy: { modelId: 'asc' } },
  deployments: { select: { modelId: true } },
} as const;

// The column was validated when it was written; a row that was edited by hand must not break the others.
const gpusSchema = z
  .array(
    z.object({
      name: z.string(),
      memory_total_mb: z.number().catch(0),
      memory_used_mb: z.number().catch(0),
      utilization: z.number().catch(0),
    }),
  )
  .catch([]);

/** The node in a row. */
export function agentOf(row: AgentRow): AgentNode {
  const deployed = new Set(row.deployments.map(({ modelId }) => modelId));
  return {
    id: row.id,
    name: row.name,
    host: row.host,
    hosts: row.hosts,
    version: row.version,
    gpus: gpusSchema.parse(row.gpus).map((gpu) => ({
      name: gpu.name,
      memoryTotalMb: gpu.memory_total_mb,
      memoryUsedMb: gpu.memory_used_mb,
      utilization: gpu.utilization,
    })),
    gpuUtilization: row.gpuUtilization,
    // Deploying a model on another node takes it away from this one, without a report of this one.
    models: row.models.map(({ modelId, status, port, streams }) => ({
      modelId,
      status: deployed.has(modelId) || streams.length > 0 ? status : IGNORED,
      port,
    })),
    createdAt: row.createdAt,
    connectedAt: row.connectedAt,
    lastHeartbeatAt: row.lastHeartbeatAt,
    connectionId: row.connectionId,
  };
}

/** The GPUs in the form of the column. */
export const gpuColumn = (gpus: readonly AgentGpu[]) =>
  gpus.map(({ name, memoryTotalMb, memoryUsedMb, utilization }) => ({
    name,
    memory_total_mb: memoryTotalMb,
    memory_used_mb: memoryUsedMb,
    utilization,
  }));
