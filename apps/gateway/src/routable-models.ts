import type { BackendStatus } from '@model-gateway/router';

/** Every model of a healthy backend, with the name of the first backend that serves it. */
export function routableModels(
  backends: readonly Pick<BackendStatus, 'backend' | 'isRoutable' | 'models'>[],
): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { backend, isRoutable, models } of backends) {
    if (!isRoutable) continue;
    for (const id of models) if (!owners.has(id)) owners.set(id, backend.name);
  }
  return owners;
}
