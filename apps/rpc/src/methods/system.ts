import type { SystemMonitor } from '@model-gateway/inference';
import type { EffectiveSetting } from '@model-gateway/kernel';
import type { HandlersOf } from '../protocol/handlers.ts';

export function createSystemMethods({
  system,
  settings,
}: {
  readonly system: SystemMonitor;
  readonly settings: readonly EffectiveSetting[];
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
    'system.settings': async () => ({
      settings: settings.map(({ isSecret, isSet, ...setting }) => ({
        ...setting,
        is_secret: isSecret,
        is_set: isSet,
      })),
    }),
  };
}
