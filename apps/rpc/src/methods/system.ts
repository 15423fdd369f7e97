import type { SystemMonitor } from '@model-gateway/inference';
import type { HandlersOf } from '../protocol/handlers.ts';

export function createSystemMethods({
  system,
}: {
  readonly system: SystemMonitor;
}): HandlersOf<'system'> {
  return {
    'system.status': async () => {
      const status = await system.read();
      return {
        agents_online: status.agentsOnline,
        gpu_nodes: status.gpuNodes,
        models_deployed: status.modelsDeployed,
        requests_total: status.requestsTotal,
        requests_per_minute: status.requestsPerMinute,
        uptime_seconds: status.uptimeSecs,
      };
    },
  };
}
