import type { AgentGpu } from '@model-gateway/contracts';
import type { AgentTelemetry } from '@model-gateway/router';

interface GpuReport {
  readonly gpus?: readonly AgentGpu[] | undefined;
  readonly gpu_utilization?: number | null | undefined;
}

/** The telemetry of a node. The average utilization is computed where the node does not report it; without GPUs it is null. */
export function telemetryOf(
  { gpus = [], gpu_utilization }: GpuReport,
  now: number,
): AgentTelemetry {
  return {
    gpus: gpus.map((gpu) => ({
      name: gpu.name,
      memoryTotalMb: gpu.memory_total_mb,
      memoryUsedMb: gpu.memory_used_mb,
      utilization: gpu.utilization,
    })),
    gpuUtilization: gpu_utilization ?? average(gpus.map(({ utilization }) => utilization)),
    at: new Date(now),
  };
}

const average = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
