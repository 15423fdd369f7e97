import type { AgentGpu, AgentNode } from '@model-gateway/router';
import { z } from 'zod';
import type { Prisma } from '../generated/client.ts';

/** A node with its models, as Prisma reads it. */
export type AgentRow = Prisma.AgentNodeGetPayload<{ include: { models: true } }>;

// What is in the column was validated on its way in; a row that somebody edited must not take the others away.
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

/** What a row says. */
export function agentOf(row: AgentRow): AgentNode {
  return {
    id: row.id,
    name: row.name,
    host: row.host,
    version: row.version,
    gpus: gpusSchema.parse(row.gpus).map((gpu) => ({
      name: gpu.name,
      memoryTotalMb: gpu.memory_total_mb,
      memoryUsedMb: gpu.memory_used_mb,
      utilization: gpu.utilization,
    })),
    gpuUtilization: row.gpuUtilization,
    models: row.models.map(({ modelId, status, port }) => ({ modelId, status, port })),
    createdAt: row.createdAt,
    connectedAt: row.connectedAt,
    lastHeartbeatAt: row.lastHeartbeatAt,
    connectionId: row.connectionId,
  };
}

/** GPUs as the column keeps them. */
export const gpuColumn = (gpus: readonly AgentGpu[]) =>
  gpus.map(({ name, memoryTotalMb, memoryUsedMb, utilization }) => ({
    name,
    memory_total_mb: memoryTotalMb,
    memory_used_mb: memoryUsedMb,
    utilization,
  }));
